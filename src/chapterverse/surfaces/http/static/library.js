// The view of all books, and adding one to them.
import { addBook, getBooks } from "./api.js";
import { announce, make } from "./dom.js";

const CLOTHS = 6;
const KINDS = {
  pdf: "PDF",
  epub: "EPUB",
  wordprocessingml: "DOCX",
  presentationml: "Slides",
  html: "Web page",
  markdown: "Markdown",
  plain: "Text",
};
const ACCEPTED = ".pdf,.epub,.docx,.pptx,.html,.htm,.md,.markdown,.txt,.rst";
const STAGES = { sending: "Sending", reading: "Reading", embedding: "Indexing" };

export class Library {
  static async open() {
    return new Library(await getBooks());
  }

  constructor({ shelves, troubles, can_add }) {
    this.shelves = make("div", { class: "shelves" });
    this.adding = make("ul", { class: "adding", "aria-label": "Books being added" });
    const chosen = make("input", {
      type: "file",
      multiple: true,
      accept: ACCEPTED,
      id: "file",
      class: "quiet",
      onchange: () => {
        this.add([...chosen.files]);
        chosen.value = "";
      },
    });
    this.drop = make(
      "div",
      { class: "drop" },
      make(
        "p",
        {},
        make("strong", {}, "Drop a book here"),
        " or ",
        make("button", { type: "button", class: "plain", onclick: () => chosen.click() }, "choose a file"),
      ),
      make("p", { class: "small" }, "PDF, EPUB, DOCX, PPTX, HTML, Markdown or text. It stays on this machine."),
      chosen,
    );
    chosen.setAttribute("aria-label", "Choose a book to add");
    chosen.tabIndex = -1;
    this.element = make(
      "div",
      { class: "library" },
      make(
        "header",
        { class: "hero" },
        make("h1", {}, "Ask a book."),
        make("p", {}, "Get an answer that quotes it, chapter and verse, or a plain no."),
      ),
      this.shelves,
      can_add && this.drop,
      this.adding,
    );
    this.#show({ shelves, troubles });
    this.listeners = can_add
      ? {
          dragover: (event) => this.#over(event),
          dragleave: () => this.#lit(false),
          drop: (event) => this.#dropped(event),
        }
      : {};
  }

  shown() {
    for (const [name, listener] of Object.entries(this.listeners)) window.addEventListener(name, listener);
  }

  close() {
    for (const [name, listener] of Object.entries(this.listeners)) window.removeEventListener(name, listener);
  }

  #show({ shelves, troubles }) {
    const wrong = Object.entries(troubles);
    const full = shelves.filter((shelf) => shelf.books.length > 1);
    const single = shelves.filter((shelf) => shelf.books.length === 1);
    const row = (name, pairs) =>
      pairs.length > 0 &&
      make(
        "section",
        { class: "shelf" },
        make("h2", {}, name),
        make("ul", {}, ...pairs.map(([shelf, book]) => make("li", {}, coverOf(shelf, book)))),
      );
    this.shelves.replaceChildren(
      ...[
        row(
          "Books",
          single.map((shelf) => [shelf, shelf.books[0]]),
        ),
        ...full.map((shelf) =>
          row(
            shelf.name,
            shelf.books.map((book) => [shelf, book]),
          ),
        ),
        ...wrong.map(([index, why]) => make("p", { class: "trouble" }, `${index} cannot be opened: ${why}`)),
        shelves.length + wrong.length === 0 &&
          make(
            "p",
            { class: "empty" },
            "There is no book here yet. Drop one below, or run ",
            make("code", {}, "chapterverse add BOOK"),
            ".",
          ),
      ].filter(Boolean),
    );
  }

  #lit(on) {
    this.drop.classList.toggle("lit", on);
  }

  #over(event) {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    this.#lit(true);
  }

  #dropped(event) {
    event.preventDefault();
    this.#lit(false);
    this.add([...event.dataTransfer.files]);
  }

  /** Add files, one after the other: each is indexed whole or not at all. */
  async add(files) {
    const waiting = files.map((file) => new Adding(file));
    this.adding.append(...waiting.map((one) => one.element));
    for (const one of waiting) {
      if (await one.run()) this.#show(await getBooks());
    }
  }
}

/** One book on its way into the library. */
class Adding {
  constructor(file) {
    this.file = file;
    this.abort = new AbortController();
    this.bar = make("progress", { "aria-label": `Adding ${file.name}` });
    this.state = make("span", { class: "state" }, "Waiting");
    this.button = make("button", { type: "button", class: "plain", onclick: () => this.#cancel() }, "Cancel");
    this.element = make("li", {}, make("strong", {}, file.name), this.bar, this.state, this.button);
  }

  /** Whether the book was added. */
  async run() {
    if (this.abort.signal.aborted) return false;
    try {
      const added = await addBook(this.file, { signal: this.abort.signal, on: (news) => this.#progress(news) });
      announce(`Added: ${added.title}`);
      if (added.warnings.length) this.#end("warned", `Added, but: ${added.warnings.join(" ")}`);
      else this.element.remove();
      return true;
    } catch (error) {
      if (error.name === "AbortError") this.element.remove();
      else this.#end("failed", error.message);
      return false;
    }
  }

  #progress({ stage, done, of }) {
    const known = of > 0;
    if (known) [this.bar.max, this.bar.value] = [of, done];
    else this.bar.removeAttribute("value");
    const count = known && stage === "embedding" ? `: ${done} of ${of} passages` : "";
    this.state.textContent = `${STAGES[stage]}${count}`;
  }

  #cancel() {
    this.abort.abort();
    this.element.remove();
    announce(`Cancelled: ${this.file.name}`);
  }

  #end(name, text) {
    this.element.className = name;
    this.bar.remove();
    this.state.textContent = text;
    this.state.setAttribute("role", "alert");
    this.button.textContent = "Dismiss";
  }
}

function coverOf(shelf, book) {
  const cloth =
    [...`${book.title}${shelf.index}${book.file_id}`].reduce((sum, character) => sum + character.codePointAt(0), 0) %
    CLOTHS;
  const kind = Object.entries(KINDS).find(([part]) => book.mime_type.includes(part))?.[1] ?? "Text";
  return make(
    "a",
    { class: "book-link", href: `#${new URLSearchParams({ index: shelf.index, file: book.file_id })}` },
    make(
      "span",
      { class: `cover cloth-${cloth}`, "aria-hidden": "true" },
      make("span", { class: "name" }, book.title),
      make("span", { class: "kind" }, kind),
    ),
    make("span", { class: "title" }, book.title),
    make("span", { class: "facts" }, book.pages ? `${book.pages} pages` : book.file_name),
  );
}
