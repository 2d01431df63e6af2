// Places in words: what a citation chip says, and what is copied with a quote.

const NUMBERED = /^(?:chapter|ch\.|part|lesson|unit)\s+([\divxlc]+)\b/i;

/** `Ch. 3 · p. 45`: as short as it can be. Works for citations and for passages alike. */
export function chipLabel(place) {
  if (!place.file_id) return "your selection";
  const parts = [shortChapter(place.chapter), pageOf(place)].filter(Boolean);
  return parts.join(" · ") || place.title || place.file_name || "the book";
}

function shortChapter(chapter) {
  if (!chapter) return null;
  const number = NUMBERED.exec(chapter)?.[1];
  if (number) return `Ch. ${number}`;
  return chapter.length > 28 ? `${chapter.slice(0, 26).trimEnd()}…` : chapter;
}

function pageOf({ page_label, page, slide }) {
  if (slide !== null && slide !== undefined) return `slide ${slide}`;
  const label = page_label ?? page;
  return label === null || label === undefined ? null : `p. ${label}`;
}

/** A place in full: title, chapter, section, page. */
export function fullPlace(place) {
  if (!place.file_id) return "your selection";
  return [place.title ?? place.file_name, place.chapter, place.section, pageOf(place)].filter(Boolean).join(", ");
}

/** A quote with its place, as it is copied. */
export const quoted = (text, places) => `“${text}”\n— ${places.join("; ")}`;
