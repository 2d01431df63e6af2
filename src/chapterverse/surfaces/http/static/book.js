// The open book: its text, loaded part by part as the reader comes near it, and exact places in it.
import { getText } from "./api.js";
import { make } from "./dom.js";
import { elementsOf, highlight, Offsets, placeOf, unhighlight, unitsBefore } from "./text.js";

const NEAR = "1500px"; // how far ahead of the reader text is loaded
const CHARACTERS_A_LINE = 72;
const LINE = 27; // pixels; both only guess the room for what is not loaded yet
const TOP = 96; // pixels that stay free above what is scrolled to

/** How many characters (code points) a text has. */
const lengthOf = (text) => [...text].length;

export class Book {
  /** @param outline what `GET /books/outline` gives */
  constructor(outline) {
    this.outline = outline;
    this.element = make("article", { class: "book", lang: outline.language, "aria-label": outline.title });
    this.parts = outline.parts.map(({ start, end }, number) => {
      const element = make("section", { class: "part", "data-part": number });
      element.style.minHeight = `${Math.ceil((end - start) / CHARACTERS_A_LINE) * LINE}px`;
      return { start, end, number, element, text: null, offsets: null, loading: null };
    });
    this.element.append(...this.parts.map((part) => part.element));
    this.observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting) this.load(this.parts[entry.target.dataset.part]).catch(() => {});
        }
      },
      { rootMargin: NEAR },
    );
  }

  /** Begin to load what comes into view. */
  watch() {
    for (const part of this.parts) this.observer.observe(part.element);
  }

  close() {
    this.observer.disconnect();
  }

  /** A part's text on the page; what is above the reader may grow without moving what they read. */
  load(part) {
    part.loading ??= getText(this.outline.index, this.outline.file_id, part.number)
      .then((loaded) => {
        const above = part.element.getBoundingClientRect();
        const content = elementsOf(loaded);
        part.text = loaded.text;
        part.offsets = new Offsets(loaded.text);
        part.element.replaceChildren(content);
        part.element.style.minHeight = "";
        this.observer.unobserve(part.element);
        if (above.bottom <= TOP) window.scrollBy(0, part.element.getBoundingClientRect().height - above.height);
      })
      .catch((error) => {
        part.loading = null;
        part.element.replaceChildren(this.#retry(part, error));
        throw error;
      });
    return part.loading;
  }

  #retry(part, error) {
    const again = () => this.load(part).catch(() => {});
    return make(
      "p",
      { class: "trouble", role: "alert" },
      `${error.message} `,
      make("button", { type: "button", onclick: again }, "Try again"),
    );
  }

  #between(start, end) {
    return this.parts.filter((part) => part.start < end && start < part.end);
  }

  /** Load the text around a place before anybody asks to see it. */
  prepare(start, end) {
    return Promise.all(this.#between(start, Math.max(end, start + 1)).map((part) => this.load(part)));
  }

  /** The stored text between two offsets; what is not loaded is left out. */
  textOf(start, end) {
    return this.#between(start, end)
      .filter((part) => part.text !== null)
      .map((part) => part.text.slice(...this.#within(part, start, end)))
      .join("");
  }

  #within(part, start, end) {
    const clamp = (offset) => part.offsets.units(Math.min(Math.max(offset, part.start), part.end) - part.start);
    return [clamp(start), clamp(end)];
  }

  /** Highlight the text between two offsets, in place of what had that name before. */
  mark(start, end, name) {
    unhighlight(this.element, name);
    return this.#between(start, end)
      .filter((part) => part.text !== null)
      .flatMap((part) => highlight(part.element, ...this.#within(part, start, end), name));
  }

  /** Scroll to the text between two offsets and highlight it. */
  async reveal(start, end, name = "cited") {
    await this.prepare(start, end);
    const marks = this.mark(start, end, name);
    this.#scrollTo(marks[0]?.getBoundingClientRect());
    return marks;
  }

  /** Scroll to a place without marking it. */
  async goTo(offset) {
    await this.prepare(offset, offset + 1);
    const part = this.#between(offset, offset + 1)[0];
    const { node } = placeOf(part.element, part.offsets.units(offset - part.start));
    this.#scrollTo(node?.parentElement.getBoundingClientRect(), TOP);
    return node?.parentElement;
  }

  #scrollTo(place, top = window.innerHeight / 4) {
    if (place) window.scrollBy({ top: place.top - Math.max(top, TOP), behavior: "instant" });
  }

  /** The offsets of what is selected in this book, or null. */
  selection() {
    const selected = document.getSelection();
    if (!selected || selected.isCollapsed || !selected.rangeCount) return null;
    const range = selected.getRangeAt(0);
    const start = this.#offsetAt(range.startContainer, range.startOffset);
    if (start === null) return null;
    // Three clicks on the last paragraph select up to whatever stands after the book.
    const end = this.#offsetAt(range.endContainer, range.endOffset) ?? this.parts.at(-1).end;
    const wide = this.textOf(start, end);
    const text = wide.trim();
    if (!text) return null;
    const first = start + lengthOf(wide) - lengthOf(wide.trimStart());
    return { start: first, end: first + lengthOf(text), text, range };
  }

  #offsetAt(node, offset) {
    const element = (node instanceof Element ? node : node.parentElement)?.closest(".part");
    const part = element && this.parts[element.dataset.part];
    if (!part || part.text === null || part.element !== element) return null;
    return part.start + part.offsets.points(unitsBefore(element, node, offset));
  }

  /** The offset at which an element of the text begins. */
  offsetBefore(element) {
    return this.#offsetAt(element, 0);
  }

  /** The offsets of one block that is on the page. */
  offsetsOf(element) {
    const start = this.#offsetAt(element, 0);
    const text = element.textContent;
    return { start, end: start + lengthOf(text), text };
  }

  /** The blocks that are loaded, in reading order. */
  blocks() {
    return [...this.element.querySelectorAll(".block")];
  }

  /** Where the reader is: what begins last above a line a third down the window. */
  whereabouts() {
    const isAbove = (element) => element.getBoundingClientRect().top <= window.innerHeight / 3;
    const last = (part, selector) => [...part.element.querySelectorAll(selector)].filter(isAbove).at(-1);
    const read = this.parts.filter((part) => isAbove(part.element));
    const block = read.length > 0 && last(read.at(-1), ".block");
    const page = read.reduceRight((found, part) => found ?? last(part, ".page-mark"), undefined);
    const offset = block ? this.offsetBefore(block) : (read.at(-1)?.start ?? 0);
    const heading = this.outline.headings.filter(({ start }) => start <= offset).at(-1);
    return { heading, page: page?.dataset.name, offset };
  }
}
