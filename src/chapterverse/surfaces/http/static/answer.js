// An answer as elements: sentences with citation chips, both sides of a contradiction, or a plain refusal.
import { copyButton, make } from "./dom.js";
import { chipLabel, fullPlace } from "./places.js";

const STAGES = {
  topic: "Is it about this book?",
  retrieve: "Searching the book…",
  validate: "Reading the passages…",
  conflicts: "Looking for contradictions…",
  draft: "Writing…",
  gate: "Checking every sentence…",
  cite: "Finding chapter and verse…",
};
const REASONS = {
  empty_question: "It does not say what it is about: name it, or select the passage.",
  out_of_scope: "The question does not seem to be about this book.",
  no_matches: "Nothing in the book comes near the question.",
  below_threshold: "Nothing in the book comes near the question.",
  answer_absent: "The book speaks of this, but does not answer it.",
  not_supported: "What could be said is not borne out by the book.",
  selection_lacks_answer: "Only the selected text was looked at.",
};
const RELATED = 3;
const EXCERPT = 220;

/** A card that grows as an answer comes. `show(place)` is called with the citation or passage that a reader clicks. */
export class AnswerCard {
  constructor(question, { selection = null, show, retry }) {
    this.show = show;
    this.retry = retry;
    this.status = make("p", { class: "stage" }, STAGES.retrieve);
    this.body = make("div", { class: "said" });
    this.foot = make("footer", {});
    this.element = make(
      "section",
      { class: "answer", "aria-busy": "true", "aria-label": `Answer to: ${question}` },
      make("h3", {}, question),
      selection &&
        make("p", { class: "scope" }, "Only your selection was used: ", make("q", {}, excerpt(selection, 90))),
      this.body,
      this.status,
      this.foot,
    );
  }

  /** An event of the stream. */
  on(name, data) {
    if (name === "stage") this.status.textContent = STAGES[data.stage] ?? "Thinking…";
    if (name === "sentence") this.body.append(this.#sentence(data, data.citations));
    if (name === "answer") this.finish(data);
  }

  /** The whole answer, in place of what had come of it so far. */
  finish(answer) {
    this.answer = answer;
    this.element.dataset.status = answer.status;
    this.element.removeAttribute("aria-busy");
    this.status.remove();
    this.body.replaceChildren(...this.#content(answer));
    if (!answer.grounded) return;
    this.foot.replaceChildren(
      confidence(answer.confidence),
      copyButton("Copy with citations", () => this.asText()),
    );
  }

  fail(error) {
    this.element.dataset.status = "error";
    this.element.removeAttribute("aria-busy");
    this.status.remove();
    this.body.replaceChildren(make("p", { class: "trouble", role: "alert" }, error.message));
    this.foot.replaceChildren(make("button", { type: "button", class: "plain", onclick: this.retry }, "Ask again"));
  }

  /** What is copied: the sentences with numbers, then the places. */
  asText() {
    const { sentences, citations } = this.answer;
    const said = sentences.map(
      ({ text, kind, citations: numbers }) =>
        `${kind === "quote" ? `“${text}”` : text}${numbers.map((number) => ` [${number}]`).join("")}`,
    );
    return [...said, "", ...citations.map((one) => `[${one.number}] ${fullPlace(one)}`)].join("\n");
  }

  #content(answer) {
    if (answer.status === "refused" || !answer.grounded) return this.#refusal(answer);
    const of = (sentence) => sentence.citations.map((number) => answer.citations[number - 1]);
    if (answer.status !== "conflict") return answer.sentences.map((one) => this.#sentence(one, of(one)));
    const notices = answer.sentences.filter((one) => one.kind === "notice");
    const sides = answer.sentences.filter((one) => one.kind !== "notice");
    return [
      ...notices.map((one) => this.#sentence(one, [])),
      make(
        "div",
        { class: "sides" },
        ...sides.map((one) => make("div", { class: "side" }, this.#sentence(one, of(one)))),
      ),
    ];
  }

  #sentence({ text, kind }, citations) {
    return make(
      "p",
      { class: kind },
      make("span", { class: "words" }, text),
      " ",
      ...citations.flatMap((one) => [this.#chip(one), " "]),
    );
  }

  #chip(place) {
    const title = fullPlace(place);
    return make(
      "button",
      {
        type: "button",
        class: "chip",
        title,
        "aria-label": `Show in the book: ${title}`,
        onclick: () => this.show(place),
      },
      chipLabel(place),
    );
  }

  #refusal(answer) {
    const nothing = answer.nothing_because;
    const reason = nothing ? `Nothing was found: ${nothing}.` : REASONS[answer.reason];
    const near = answer.matched_chunks.filter((one) => one.file_id).slice(0, RELATED);
    return [
      make("p", { class: "refusal" }, answer.answer),
      reason && make("p", { class: "reason" }, reason),
      near.length > 0 &&
        make(
          "div",
          { class: "related" },
          make("h4", {}, "Related, but it does not answer"),
          make(
            "ul",
            {},
            ...near.map((one) => make("li", {}, make("q", {}, excerpt(one.text, EXCERPT)), " ", this.#chip(one))),
          ),
        ),
    ].filter(Boolean);
  }
}

function confidence(value) {
  const percent = Math.round(value * 100);
  const level = make("span", { class: "level" });
  level.style.width = `${percent}%`;
  const name = `Confidence ${percent} %`;
  return make(
    "span",
    {
      class: "confidence",
      role: "meter",
      "aria-label": "Confidence",
      "aria-valuenow": percent,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuetext": `${percent} percent`,
      title: "How sure the reader is that the book says so",
    },
    make("span", { class: "scale" }, level),
    make("span", {}, name),
  );
}

export function excerpt(text, length) {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= length ? flat : `${flat.slice(0, flat.lastIndexOf(" ", length))}…`;
}
