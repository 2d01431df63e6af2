// Elements without markup: text stays text, whatever a book says.

/** Make an element: properties named on… are listeners, all others attributes; null and false leave one out, or a child. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (isNothing(value)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => !isNothing(child)));
  return element;
}

const isNothing = (value) => value === null || value === undefined || value === false;

/** Tell people who cannot see the page what has happened on it. */
export function announce(text) {
  const region = document.getElementById("said");
  if (region) region.textContent = text;
}

/** Put text on the clipboard, also where the page is not served securely and the modern way is closed. */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = make("textarea", { class: "quiet" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** A button that copies what `text()` gives, and says so. */
export function copyButton(label, text) {
  const button = make("button", { type: "button", class: "plain", onclick: () => act() }, label);
  async function act() {
    await copy(text());
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = label), 1600);
  }
  return button;
}
