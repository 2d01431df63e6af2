// What floats beside selected text: ask about it, or copy it with its place.
import { make } from "./dom.js";

export class SelectionBar {
  constructor(book, { ask, copy }) {
    this.book = book;
    const act = (what) => () => this.selection && what(this.selection);
    this.element = make(
      "div",
      { class: "selection-bar", role: "toolbar", "aria-label": "Selected text", hidden: true },
      make("button", { type: "button", "aria-keyshortcuts": "a", onclick: act(ask) }, "Ask about this"),
      make(
        "button",
        {
          type: "button",
          "aria-keyshortcuts": "c",
          onclick: act((selection) => {
            copy(selection);
            this.hide();
          }),
        },
        "Copy with citation",
      ),
    );
    this.element.addEventListener("mousedown", (event) => event.preventDefault()); // the selection must survive the click
    this.onchange = () => this.#place();
  }

  watch() {
    document.addEventListener("selectionchange", this.onchange);
    window.addEventListener("scroll", this.onchange, { passive: true });
  }

  close() {
    document.removeEventListener("selectionchange", this.onchange);
    window.removeEventListener("scroll", this.onchange);
  }

  hide() {
    this.element.hidden = true;
    this.selection = null;
  }

  #place() {
    this.selection = this.book.selection();
    this.element.hidden = !this.selection;
    if (!this.selection) return;
    const around = this.selection.range.getBoundingClientRect();
    const { width, height } = this.element.getBoundingClientRect();
    const left = Math.min(Math.max(around.left + around.width / 2 - width / 2, 8), window.innerWidth - width - 8);
    // Phones put their own menu above a selection.
    const below = matchMedia("(pointer: coarse)").matches || around.top < height + 64;
    const top = below ? Math.min(around.bottom + 10, window.innerHeight - height - 90) : around.top - height - 10;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
  }
}
