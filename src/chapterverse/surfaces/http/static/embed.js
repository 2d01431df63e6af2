// On other people's pages: a button, a panel, and "Ask about this" beside selected text, all in the shadow of one element.
import { address } from "./api.js";
import { copy, make } from "./dom.js";
import { find } from "./find.js";
import { Panel } from "./panel.js";
import { quoted } from "./places.js";
import { SelectionBar } from "./selection.js";

const STYLES = ["tokens.css", "controls.css", "answer.css", "embed.css"];
const ELEMENT = "chapterverse-ask";

/** `index`: which index answers; `label`: what the button says; `within`: a selector of the text that may be asked about. */
export function start({ index, label = "Ask the book", within = "body" }) {
  if (!index) throw new Error('chapterverse.js: say which index answers, as in data-index="my-book".');
  if (document.querySelector(ELEMENT)) return;
  new Embedded(index, label, within);
}

class Embedded {
  constructor(index, label, within) {
    this.index = index;
    this.within = within;
    this.panel = new Panel({
      outline: { index },
      others: false,
      prepare: () => {},
      show: (place, selection) => this.show(place, selection),
      forget: () => {},
    });
    this.bar = new SelectionBar(this, { ask: (selection) => this.askAbout(selection), copy: copyWithAddress });
    this.button = make(
      "button",
      { type: "button", class: "send launch", "aria-expanded": "false", onclick: () => this.toggle() },
      label,
    );
    this.panel.element.hidden = true;
    this.host = make(ELEMENT, { onkeydown: (event) => this.#key(event) });
    this.host
      .attachShadow({ mode: "open" })
      .append(
        ...STYLES.map((name) => make("link", { rel: "stylesheet", href: address(`static/${name}`) })),
        this.panel.element,
        this.button,
        this.bar.element,
      );
    document.body.append(this.host);
    this.bar.watch();
  }

  #key(event) {
    event.stopPropagation(); // the page's own shortcuts are not meant
    if (event.key === "Escape") this.toggle(false);
  }

  toggle(open = this.panel.element.hidden) {
    this.panel.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.panel.focus();
    else this.button.focus();
  }

  askAbout(selection) {
    this.bar.hide();
    this.toggle(true);
    this.panel.askAbout(selection);
  }

  /** What is selected of the page's text, or null. */
  selection() {
    const selected = document.getSelection();
    if (!selected || selected.isCollapsed || !selected.rangeCount) return null;
    const range = selected.getRangeAt(0).cloneRange();
    const first = range.startContainer;
    const element = first instanceof Element ? first : first.parentElement;
    const text = selected.toString().trim();
    return text && element?.closest(this.within) ? { text, range } : null;
  }

  /** Bring what is cited into view: on this page if it stands here, else in the book. */
  show(place, selection) {
    const range = place.file_id ? find(document.body, place.quote ?? place.text) : selection.range;
    if (!range) {
      const parameters = new URLSearchParams({
        index: this.index,
        file: place.file_id,
        at: `${place.start}-${place.end}`,
      });
      window.open(`${address("")}#${parameters}`, "_blank", "noopener");
      return;
    }
    const selected = document.getSelection();
    selected.removeAllRanges();
    selected.addRange(range);
    (range.startContainer.parentElement ?? document.body).scrollIntoView({ block: "center", behavior: "instant" });
  }
}

const copyWithAddress = ({ text }) => copy(quoted(text, [`${document.title}, ${location.href}`]));
