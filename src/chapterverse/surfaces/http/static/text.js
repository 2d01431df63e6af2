// A part of a book as elements. One rule makes exact places possible: the text of the elements, put together, is the
// stored text, character for character. So an offset of a citation is a place on the page, and a selection is an offset.
import { make } from "./dom.js";

/** Turns offsets in characters (code points, as the service counts) into JavaScript's UTF-16 units, and back. */
export class Offsets {
  #starts = null;

  constructor(text) {
    if (!/[\ud800-\udfff]/.test(text)) return;
    this.#starts = [];
    let unit = 0;
    for (const character of text) {
      this.#starts.push(unit);
      unit += character.length;
    }
    this.#starts.push(unit);
  }

  units(points) {
    return this.#starts ? this.#starts[Math.min(points, this.#starts.length - 1)] : points;
  }

  points(units) {
    if (!this.#starts) return units;
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] < units) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const TAGS = { paragraph: "p", code: "pre", quote: "blockquote", caption: "p", footnote: "p", notes: "p" };

/** The elements of a part, as `GET /books/text` gives it. */
export function elementsOf(part) {
  const offsets = new Offsets(part.text);
  const at = (offset) => offsets.units(offset - part.start);
  const marks = part.marks.map((mark) => ({ ...mark, at: at(mark.start) }));
  const content = document.createDocumentFragment();
  let [done, list] = [0, null];
  for (const block of part.blocks) {
    const [start, end] = [at(block.start), at(block.end)];
    if (block.kind !== "list") list = null;
    const gap = part.text.slice(done, start);
    // What is too wide can be scrolled, so the Tab key must reach it; all else is reached by `j` and `k`.
    const tabindex = block.kind === "table" || block.kind === "code" ? "0" : "-1";
    const element = make(tagOf(block), { class: `block ${block.kind}`, dir: "auto", tabindex });
    fill(element, part.text.slice(start, end), start, marks, block.kind === "table");
    if (block.kind === "list" && !list) content.append(gap, (list = make("ul")));
    else (list ?? content).append(gap);
    (list ?? content).append(element);
    done = end;
  }
  content.append(part.text.slice(done));
  return content;
}

function tagOf(block) {
  if (block.kind === "heading") return `h${Math.min(block.level + 1, 6)}`;
  return block.kind === "list" ? "li" : block.kind === "table" ? "table" : (TAGS[block.kind] ?? "p");
}

/** Text into an element, with the marks of pages and slides where they begin. */
function fill(element, text, start, marks, isTable) {
  if (isTable) {
    let at = start;
    const rows = text.split("\n").map((line, number, lines) => {
      const row = rowOf(line, at, marks, number < lines.length - 1 ? "\n" : "");
      at += line.length + 1;
      return row;
    });
    element.append(make("tbody", {}, ...rows));
    return;
  }
  let done = 0;
  for (const mark of marks) {
    const at = mark.at - start;
    if (at < 0 || at >= text.length) continue;
    element.append(text.slice(done, at), markOf(mark, at === 0));
    done = at;
  }
  element.append(text.slice(done));
}

/** A row of a table. What stands between its cells in the stored text stays in the page, out of sight. */
function rowOf(line, start, marks, ending) {
  const cells = line.split(" | ");
  let at = start;
  return make(
    "tr",
    {},
    ...cells.map((text, number) => {
      const cell = make("td");
      fill(cell, text, at, marks, false);
      const between = number < cells.length - 1 ? " | " : ending;
      if (between) cell.append(make("span", { class: "between" }, between));
      at += text.length + between.length;
      return cell;
    }),
  );
}

/** Where a page or slide begins; its label is drawn by the style, so that it is never part of the text. */
function markOf({ kind, label }, isFirst) {
  const name = kind === "slide" ? `Slide ${label}` : `p. ${label}`;
  return make("span", {
    class: isFirst ? "page-mark first" : "page-mark",
    role: "separator",
    "aria-label": name,
    "data-name": name,
  });
}

/** The place of a unit offset in an element: a text node and an offset in it. */
export function placeOf(element, units) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let [left, node, last] = [units, walker.nextNode(), null];
  for (; node; node = walker.nextNode()) {
    if (left < node.length) return { node, offset: left };
    left -= node.length;
    last = node;
  }
  return { node: last, offset: last?.length ?? 0 };
}

/** How many units of text stand before a place in an element. */
export function unitsBefore(element, node, offset) {
  const range = document.createRange();
  range.setStart(element, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

/** Wrap the text between two unit offsets of an element in <mark>; as many of them as there are text nodes. */
export function highlight(element, start, end, name) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const pieces = [];
  let at = 0;
  for (let node = walker.nextNode(); node && at < end; node = walker.nextNode()) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, node.length)];
    if (from < to) pieces.push({ node, from, to });
    at += node.length;
  }
  return pieces.map(({ node, from, to }) => {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    const mark = make("mark", { class: name });
    range.surroundContents(mark);
    return mark;
  });
}

/** Take highlights away again. */
export function unhighlight(root, name) {
  for (const mark of root.querySelectorAll(`mark.${name}`)) {
    const parent = mark.parentNode;
    mark.replaceWith(...mark.childNodes);
    parent.normalize();
  }
}
