// The panel beside the book: the ask box, the passage that is asked about, and the answers, newest first.
import { ask } from "./api.js";
import { AnswerCard, excerpt } from "./answer.js";
import { announce, make } from "./dom.js";

const LONGEST_SELECTION = 10_000;

export class Panel {
  /**
   * `others`: whether the index has more books than this one. `prepare(place)` is told what may be shown soon,
   * `show(place, selection)` shows it, and `forget()` hears that a passage is no longer asked about.
   */
  constructor({ outline, others, prepare, show, forget }) {
    Object.assign(this, { outline, prepare, show, forget, selection: null, pending: null });
    this.question = make("textarea", {
      id: "question",
      rows: "1",
      maxlength: "1000",
      placeholder: "Ask this book…",
      "aria-label": "Your question",
      "aria-keyshortcuts": "/",
      oninput: () => this.#grow(),
      onkeydown: (event) => this.#key(event),
    });
    this.scope =
      others &&
      make(
        "select",
        { id: "scope", "aria-label": "Answer from" },
        make("option", { value: "book" }, "this book"),
        make("option", { value: "shelf" }, "the whole shelf"),
      );
    this.about = make("div", { class: "about", hidden: true });
    this.send = make("button", { type: "submit", class: "send" }, "Ask");
    this.form = make(
      "form",
      { class: "ask", onsubmit: (event) => this.#submit(event) },
      this.about,
      make("div", { class: "box" }, this.question, this.send),
      this.scope && make("label", { class: "from" }, "Answer from ", this.scope),
    );
    this.answers = make("div", { class: "answers" });
    this.hint = make(
      "p",
      { class: "hint" },
      "Every answer quotes the book, and says where. Or select a passage and ask about that alone.",
    );
    this.fold = make("button", {
      type: "button",
      class: "fold",
      "aria-label": "Hide the answers",
      onclick: () => this.collapse(),
    });
    this.element = make(
      "aside",
      { class: "panel", "aria-label": "Ask the book" },
      this.fold,
      make("h2", {}, "Ask the book"),
      this.form,
      this.hint,
      this.answers,
    );
  }

  /** Ask about a passage: from now on it alone is used, until it is let go. */
  askAbout(selection) {
    this.selection = selection;
    const tooLong = selection.text.length > LONGEST_SELECTION;
    this.about.hidden = false;
    this.about.replaceChildren(
      make(
        "p",
        {},
        make("strong", {}, "Only the selected text is used."),
        tooLong ? " It is too long: select less." : "",
      ),
      make("blockquote", {}, excerpt(selection.text, 220)),
      make("button", { type: "button", class: "plain", onclick: () => this.letGo() }, "Ask the whole book instead"),
    );
    this.question.placeholder = "Ask about this passage…";
    announce("Only the selected text is used.");
    this.focus();
  }

  letGo() {
    if (!this.selection) return;
    this.selection = null;
    this.about.hidden = true;
    this.question.placeholder = "Ask this book…";
    this.forget();
    this.focus();
  }

  focus() {
    this.question.focus();
  }

  collapse() {
    this.element.classList.remove("open");
  }

  #grow() {
    this.question.style.height = "auto";
    this.question.style.height = `${this.question.scrollHeight}px`;
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.form.requestSubmit();
  }

  #submit(event) {
    event.preventDefault();
    const question = this.question.value.trim();
    if (!question) return this.focus();
    this.question.value = "";
    this.#grow();
    return this.ask(question, this.selection);
  }

  /** Ask a question and show its answer as it comes; a new one takes the place of one that is still coming. */
  async ask(question, selection = null) {
    this.pending?.abort();
    const pending = (this.pending = new AbortController());
    const card = new AnswerCard(question, {
      selection: selection?.text,
      show: (place) => this.show(place, selection),
      retry: () => {
        card.element.remove();
        this.ask(question, selection);
      },
    });
    this.hint.remove();
    this.answers.prepend(card.element);
    this.element.classList.add("open");
    this.answers.scrollTop = 0;
    try {
      const { answer, citations, matched_chunks } = await ask(this.#body(question, selection), {
        signal: pending.signal,
        on: (name, data) => card.on(name, data),
      });
      for (const place of citations.length ? citations : matched_chunks) this.prepare(place);
      announce(`Answer: ${answer}`);
    } catch (error) {
      if (error.name === "AbortError") card.element.remove();
      else card.fail(error);
    }
    return card;
  }

  #body(question, selection) {
    const { index, file_id } = this.outline;
    if (selection) return { question, selected_text: selection.text };
    const oneBook = this.scope && this.scope.value === "book";
    return { question, index, ...(oneBook ? { filters: { file_ids: [file_id] } } : {}) };
  }
}
