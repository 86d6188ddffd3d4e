
// The filter and the keys. The page is complete without this script, which fetches nothing and never parses text as markup.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const query = one("query"), found = one("found"), fold = one("fold");
  const items = all(".item"), chips = all("[data-mark]");
  const objects = items.filter((item) => item.matches(".object"));
  const texts = new Map();
  const SEARCHED = ":scope > summary, .facts, .fields, .names, .side tr.d, .whole";
  const MARKED = 1000;

  // The searched text: all but the unchanged lines of an object; read once, on first use.
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, all(SEARCHED, item).map((part) => part.textContent).join("\n").toLowerCase());
    return texts.get(item);
  };
  const words = () => query.value.toLowerCase().split(/\s+/).filter(Boolean);

  const filter = () => {
    const wanted = words();
    const marks = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.mark);
    for (const item of items) {
      const fits = !marks.length || item.dataset.is.split(" ").some((mark) => marks.includes(mark));
      item.hidden = !(fits && wanted.every((word) => textOf(item).includes(word)));
    }
    for (const section of all("main > section")) {
      const inside = all(".item", section);
      if (inside.length) section.hidden = inside.every((item) => item.hidden);
    }
    const shown = objects.filter((item) => !item.hidden).length;
    const filtered = Boolean(wanted.length || marks.length);
    found.textContent = filtered ? `${shown} of ${objects.length} objects` : "";
    one("none").hidden = !filtered || items.some((item) => !item.hidden);
    mark(wanted);
    label();
  };

  // Mark the words where they are shown, without changing the text.
  const mark = (wanted) => {
    if (!window.Highlight) return;
    CSS.highlights.delete("found");
    const ranges = [];
    const visible = wanted.length ? items.filter((item) => !item.hidden) : [];
    for (const part of visible.flatMap((item) => all(SEARCHED, item))) {
      const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const text = walker.currentNode.data.toLowerCase();
        for (const word of wanted) {
          for (let at = text.indexOf(word); at >= 0 && ranges.length < MARKED; at = text.indexOf(word, at + word.length)) {
            if (at + word.length > walker.currentNode.length) break;
            const range = new Range();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + word.length);
            ranges.push(range);
          }
        }
      }
      if (ranges.length >= MARKED) break;
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  };

  const clear = () => {
    query.value = "";
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    filter();
  };

  const shownItems = () => items.filter((item) => !item.hidden);
  const label = () => {
    fold.textContent = shownItems().some((item) => !item.open) ? "Expand all" : "Collapse all";
  };

  const step = (by) => {
    const summaries = shownItems().map((item) => item.querySelector("summary"));
    const here = document.activeElement.closest(".item");
    const at = here ? summaries.indexOf(here.querySelector("summary")) : by > 0 ? -1 : summaries.length;
    const next = summaries[Math.max(0, Math.min(summaries.length - 1, at + by))];
    if (next) next.focus();
  };

  // The target of a link may be collapsed or filtered out.
  const follow = () => {
    const target = /^#[co]\d+$/.test(location.hash) && one(location.hash.slice(1));
    if (!target) return;
    if (target.hidden) clear();
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView();
  };

  let waiting = 0;
  query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, objects.length > 100 ? 120 : 0);
  });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  fold.addEventListener("click", () => {
    const shown = shownItems();
    const open = shown.some((item) => !item.open);
    for (const item of shown) item.open = open;
    label();
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.matches(".item")) label();
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      clear();
      if (document.activeElement === query) query.blur();
      return;
    }
    if (event.target === query) {
      if (event.key === "Enter") step(1);
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      query.focus();
      query.select();
    } else if (event.key === "n" || event.key === "j") step(1);
    else if (event.key === "p" || event.key === "k") step(-1);
  });
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });

  document.querySelector(".tools").hidden = false;
  one("keys").hidden = false;
  label();
  follow();
})();
