// What the browser keeps for the page.

/** `localStorage` or `sessionStorage`; where the browser may keep nothing, and throws, a memory until the page is left. */
export function kept(storage) {
  try {
    return window[storage];
  } catch {
    const memory = new Map();
    return { getItem: (name) => memory.get(name) ?? null, setItem: (name, value) => memory.set(name, value) };
  }
}
