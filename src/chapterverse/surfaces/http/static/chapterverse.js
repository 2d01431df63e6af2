// One tag brings highlight-to-ask and cited answers to any page; docs/reading-page.md says how. The rest is a module.
{
  const tag = document.currentScript;
  import(new URL("static/embed.js", tag.src)).then(({ start }) => start(tag.dataset));
}
