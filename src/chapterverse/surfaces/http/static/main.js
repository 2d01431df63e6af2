// The page: which view is open, the theme, and the keys.
import { key } from "./api.js";
import { announce, make } from "./dom.js";
import { kept } from "./kept.js";
import { Library } from "./library.js";
import { Reader } from "./reader.js";

const THEME = "chapterverse-theme";
const settings = kept("localStorage");
const THEMES = ["auto", "light", "dark"];
const SHORTCUTS = [
  ["/", "Ask", () => view?.panel?.focus()],
  ["a", "Ask about the selected text, or the current paragraph", () => view?.askAbout?.()],
  ["c", "Copy it with its citation", () => view?.copy?.()],
  ["n", "Next citation", () => view?.cite?.(1)],
  ["p", "Previous citation", () => view?.cite?.(-1)],
  ["j", "Next paragraph", () => view?.step?.(1)],
  ["k", "Previous paragraph", () => view?.step?.(-1)],
  ["]", "Next chapter", () => view?.turn?.(1)],
  ["[", "Previous chapter", () => view?.turn?.(-1)],
  ["t", "Contents", () => view?.toggleContents?.()],
  ["b", "All books", () => (location.hash = "")],
  ["d", "Light or dark", () => nextTheme()],
  ["?", "This help", () => help.showModal()],
];

const TROUBLES = { 401: "This library has a key", 404: "This book is not here" };

const main = document.getElementById("main");
const help = document.getElementById("help");
let view = null;
let opened = 0;

/** Open what the address names: a book, or the library. */
async function open() {
  const wanted = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const number = ++opened;
  const isBook = Boolean(wanted.index && wanted.file);
  document.body.dataset.view = isBook ? "book" : "library";
  let next;
  try {
    next = isBook ? await Reader.open({ ...wanted, at: rangeOf(wanted.at) }) : await Library.open();
  } catch (error) {
    next = troubleView(error);
  }
  if (number !== opened) return; // something else was opened meanwhile
  view?.close();
  view = next;
  main.replaceChildren(view.element);
  document.getElementById("where").replaceChildren();
  document.getElementById("progress").style.width = "0";
  document.getElementById("contents-button").hidden = !view.toggleContents;
  document.title = view.outline ? `${view.outline.title} · Chapterverse` : "Chapterverse";
  window.scrollTo(0, 0);
  if (number > 1) {
    main.focus({ preventScroll: true }); // what had the focus is gone: who reads by keyboard or ear goes on here
    announce(document.title);
  }
  await view.shown();
  performance.mark("chapterverse-shown");
}

function rangeOf(at) {
  const match = /^(\d+)-(\d+)$/.exec(at ?? "");
  return match && [Number(match[1]), Number(match[2])];
}

/** What is shown when the service cannot: why, and what to do. */
function troubleView(error) {
  const wantsKey = error.status === 401;
  const input =
    wantsKey &&
    make("input", { type: "password", "aria-label": "Key", autocomplete: "current-password", required: true });
  const button = make("button", { class: "send" }, wantsKey ? "Open" : "Try again");
  const again = (event) => {
    event.preventDefault();
    if (input) key.set(input.value);
    for (const control of element.querySelectorAll("input, button")) control.disabled = true; // what is typed until the answer comes would be lost
    open();
  };
  const why = wantsKey
    ? key.get()
      ? "The key that was given does not open it. Ask whoever runs the service for the right one."
      : "Enter the key that the service was started with."
    : error.message;
  const element = make(
    "form",
    { class: "trouble-view", onsubmit: again },
    make("h1", {}, TROUBLES[error.status] ?? "The library cannot be reached"),
    make("p", { role: "alert" }, why),
    input,
    error.status === 404 ? make("a", { href: "#" }, "All books") : button,
  );
  return { element, shown: () => input && input.focus(), close: () => {} };
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme-button");
  button.textContent = { auto: "◐ Auto", light: "☼ Light", dark: "☾ Dark" }[theme];
  button.setAttribute("aria-label", `Theme: ${theme}. Change it`);
  settings.setItem(THEME, theme);
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(settings.getItem(THEME)) + 1) % THEMES.length]);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.key === "Escape") {
    view?.toggleContents?.(false);
    view?.panel?.letGo();
    view?.panel?.collapse();
    if (document.activeElement?.matches("textarea, input")) document.activeElement.blur();
    return;
  }
  if (event.target.closest?.("textarea, input, select")) return;
  const found = SHORTCUTS.find(([letter]) => letter === event.key);
  if (!found) return;
  event.preventDefault();
  found[2]();
}

document
  .getElementById("shortcuts")
  .append(
    ...SHORTCUTS.map(([letter, what]) =>
      make("div", {}, make("dt", {}, make("kbd", {}, letter)), make("dd", {}, what)),
    ),
  );
document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.getElementById("theme-button").addEventListener("click", nextTheme);
document.getElementById("contents-button").addEventListener("click", () => view?.toggleContents?.());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", open);
setTheme(THEMES.includes(settings.getItem(THEME)) ? settings.getItem(THEME) : "auto");
open();
