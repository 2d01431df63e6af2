// Finding a quote on a page that we did not make: white space differs, and nothing of the page may be changed.

/** The range of a root's text that reads like the quote, or null. */
export function find(root, quote) {
  const { text, places } = folded(root);
  const wanted = quote.replace(/\s+/g, " ").trim();
  const start = text.indexOf(wanted);
  if (!wanted || start < 0) return null;
  const range = document.createRange();
  const [first, last] = [places[start], places[start + wanted.length - 1]];
  range.setStart(first.node, first.offset);
  range.setEnd(last.node, last.offset + 1);
  return range;
}

/** All visible text with white space folded, and where each character of it stands. */
function folded(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const places = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement?.closest("script, style, noscript, template")) continue;
    for (let offset = 0; offset < node.length; offset++) {
      const character = /\s/.test(node.data[offset]) ? " " : node.data[offset];
      if (character === " " && text.endsWith(" ")) continue;
      text += character;
      places.push({ node, offset });
    }
  }
  return { text, places };
}
