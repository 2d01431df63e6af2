// The view of one book: contents, text, and the panel beside it.
import { getOutline } from "./api.js";
import { Book } from "./book.js";
import { announce, copy, make } from "./dom.js";
import { Panel } from "./panel.js";
import { quoted } from "./places.js";
import { SelectionBar } from "./selection.js";

export class Reader {
  static async open({ index, file, at }) {
    return new Reader(await getOutline(index, file), at);
  }

  constructor(outline, at) {
    this.outline = outline;
    this.at = at;
    this.cited = -1;
    this.book = new Book(outline);
    this.panel = new Panel({
      outline,
      others: outline.books_in_index > 1,
      prepare: (place) => {
        if (place.file_id === outline.file_id) this.book.prepare(place.start, place.end).catch(() => {});
      },
      show: (place, selection) => this.show(place, selection),
      forget: () => this.book.mark(0, 0, "asked"),
    });
    this.bar = new SelectionBar(this.book, {
      ask: (selection) => this.askAbout(selection),
      copy: (selection) => this.copy(selection),
    });
    this.contents = this.#contents();
    this.element = make(
      "div",
      { class: "reader" },
      this.contents,
      this.book.element,
      this.panel.element,
      this.bar.element,
    );
    this.onscroll = () => requestAnimationFrame(() => this.#follow());
  }

  /** Called when the view stands on the page. */
  async shown() {
    window.addEventListener("scroll", this.onscroll, { passive: true });
    this.bar.watch();
    if (this.at) await this.book.reveal(...this.at);
    else await this.book.prepare(0, 1);
    this.book.watch();
    this.#follow();
  }

  close() {
    window.removeEventListener("scroll", this.onscroll);
    this.panel.pending?.abort();
    this.bar.close();
    this.book.close();
  }

  /** Scroll to what a citation cites; in another book of the shelf, open that. */
  async show(place, selection = null) {
    const start = selection && !place.file_id ? selection.start + place.start : place.start;
    const end = start + place.end - place.start;
    const file = place.file_id ?? this.outline.file_id;
    const hash = `#${new URLSearchParams({ index: this.outline.index, file, at: `${start}-${end}` })}`;
    if (file !== this.outline.file_id) {
      location.hash = hash;
      return;
    }
    await this.book.reveal(start, end);
    history.replaceState(null, "", hash);
    this.panel.collapse();
    this.#follow();
    announce(`Shown in the book: ${this.book.textOf(start, end)}`);
  }

  /** The next or previous citation on the panel. */
  cite(step) {
    const chips = [...this.panel.answers.querySelectorAll(".chip")];
    if (!chips.length) return;
    this.cited = (this.cited + step + chips.length) % chips.length;
    chips[this.cited].focus({ preventScroll: true });
    chips[this.cited].click();
  }

  askAbout(selection = this.book.selection() ?? this.#current()) {
    if (!selection) return;
    this.book.mark(selection.start, selection.end, "asked");
    document.getSelection().removeAllRanges();
    this.bar.hide();
    this.panel.askAbout(selection);
  }

  async copy(selection = this.book.selection() ?? this.#current()) {
    if (!selection) return;
    const chapter = this.outline.headings.filter(({ start, level }) => level === 1 && start <= selection.start).at(-1);
    const page = this.#pageAt(selection.start);
    const place = [this.outline.author, this.outline.title, chapter?.title, page].filter(Boolean).join(", ");
    await copy(quoted(selection.text, [place]));
    announce("Copied with its citation");
  }

  #pageAt(offset) {
    const marks = [...this.book.element.querySelectorAll(".page-mark")];
    return marks.filter((mark) => this.book.offsetBefore(mark) <= offset).at(-1)?.dataset.name;
  }

  /** The paragraph that has the focus, for those who read by keyboard. */
  #current() {
    const block = document.activeElement?.closest?.(".block");
    return block ? this.book.offsetsOf(block) : null;
  }

  /** The focus on the next or previous paragraph. */
  step(by) {
    const blocks = this.book.blocks();
    const now = blocks.indexOf(document.activeElement?.closest?.(".block"));
    const first = blocks.findIndex((block) => block.getBoundingClientRect().top > 80);
    const next = blocks[now < 0 ? Math.max(first, 0) : Math.min(Math.max(now + by, 0), blocks.length - 1)];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** The next or previous chapter. */
  turn(by) {
    const chapters = this.outline.headings.filter(({ level }) => level === 1);
    const now = chapters.filter(({ start }) => start <= this.book.whereabouts().offset).length - 1;
    const next = chapters[Math.min(Math.max(now + by, 0), chapters.length - 1)];
    if (next) this.book.goTo(next.start);
  }

  #contents() {
    const go = (heading) => {
      this.toggleContents(false);
      this.book.goTo(heading.start).then((element) => element?.closest(".block")?.focus({ preventScroll: true }));
    };
    const rows = this.outline.headings
      .filter(({ level }) => level <= 2)
      .map((heading) =>
        make(
          "li",
          { class: `level-${heading.level}`, "data-start": heading.start },
          make(
            "button",
            { type: "button", onclick: () => go(heading) },
            make("span", { class: "title" }, heading.title),
            heading.page && make("span", { class: "page" }, heading.page),
          ),
        ),
      );
    const facts = [this.outline.author, this.outline.pages && `${this.outline.pages} pages`]
      .filter(Boolean)
      .join(" · ");
    return make(
      "nav",
      { class: "contents", id: "contents", "aria-label": "Contents" },
      make("h1", {}, this.outline.title),
      facts && make("p", { class: "facts" }, facts),
      make("ol", {}, ...rows),
    );
  }

  toggleContents(open = !this.contents.classList.contains("open")) {
    this.contents.classList.toggle("open", open);
    document.getElementById("contents-button").setAttribute("aria-expanded", String(open));
    if (open) this.contents.querySelector(".here button, button")?.focus();
  }

  /** Say in the bar and in the contents where the reader is. */
  #follow() {
    const { heading, page, offset } = this.book.whereabouts();
    const where = document.getElementById("where");
    where.replaceChildren(
      make("span", { class: "title" }, this.outline.title),
      ...[heading?.title, page].filter(Boolean).map((text) => make("span", { class: "place" }, text)),
    );
    const length = this.outline.parts.at(-1)?.end || 1;
    document.getElementById("progress").style.width = `${(100 * offset) / length}%`;
    const rows = [...this.contents.querySelectorAll("li")];
    const here = rows.filter((row) => Number(row.dataset.start) <= offset).at(-1);
    for (const row of rows) row.classList.toggle("here", row === here);
    if (here !== this.here) here?.scrollIntoView({ block: "nearest" });
    this.here = here;
  }
}
