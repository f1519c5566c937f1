(() => {
  "use strict";
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Theme.

  const themeButton = one("#theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => {
    themeButton.textContent = isDark() ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  };
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("afterturn-theme", root.dataset.theme);
    } catch {
      // Not kept then.
    }
    nameTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();

  // A cited message opens beside the text.

  const reader = one("#reader");
  const readerBody = one("#reader-body");
  let opener = null;

  const neighbours = (cite) => {
    const row = cite.closest(".cites");
    return row ? all("a.cite", row) : [cite];
  };
  const open = (cite) => {
    const message = document.getElementById(cite.hash.slice(1));
    if (!message) return false;
    const copy = message.cloneNode(true);
    copy.removeAttribute("id");
    all("[id]", copy).forEach((element) => element.removeAttribute("id"));
    copy.hidden = false;
    readerBody.replaceChildren(copy);
    const row = neighbours(cite);
    const at = row.indexOf(cite);
    one("#reader-place").textContent = row.length > 1 ? `${at + 1} of ${row.length}` : "";
    for (const [name, next] of [["#reader-back", row[at - 1]], ["#reader-on", row[at + 1]]]) {
      const button = one(name);
      button.hidden = row.length < 2;
      button.disabled = !next;
      button.onclick = () => next && open(next);
    }
    all("a.cite[aria-current]").forEach((element) => element.removeAttribute("aria-current"));
    cite.setAttribute("aria-current", "true");
    if (reader.hidden) opener = cite;
    reader.hidden = false;
    readerBody.scrollTop = 0;
    one("#reader-close").focus({ preventScroll: true });
    return true;
  };
  const close = () => {
    if (reader.hidden) return;
    reader.hidden = true;
    all("a.cite[aria-current]").forEach((element) => element.removeAttribute("aria-current"));
    if (opener) opener.focus({ preventScroll: true });
    opener = null;
  };
  document.addEventListener("click", (event) => {
    const cite = event.target.closest("a.cite");
    if (cite && !event.ctrlKey && !event.metaKey && !event.shiftKey && open(cite)) event.preventDefault();
  });
  one("#reader-close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key === "/" && !/^(input|select|textarea)$/i.test(event.target.tagName)) {
      event.preventDefault();
      words.focus();
    }
  });

  // Filter.

  const words = one("#words") || document.createElement("input");
  const kind = one("#kind") || document.createElement("select");
  const status = one("#status") || document.createElement("select");
  const told = one("#told") || document.createElement("output");
  const texts = new WeakMap();
  const textOf = (entry) => {
    if (!texts.has(entry)) texts.set(entry, entry.textContent.toLowerCase());
    return texts.get(entry);
  };
  const entries = all("[data-kind]");
  const opened = new Set();
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = wanted.length > 0 || kind.value !== "" || status.value !== "";
    let shown = 0;
    for (const entry of entries) {
      const fits =
        (!kind.value || entry.dataset.kind === kind.value) &&
        (!status.value || entry.dataset.status === status.value) &&
        (!wanted.length || wanted.every((word) => textOf(entry).includes(word)));
      entry.hidden = !fits;
      shown += fits;
    }
    root.classList.toggle("filtering", active);
    for (const part of all("[data-filtered]")) {
      part.hidden = active && !all("[data-kind]", part).some((entry) => !entry.hidden);
    }
    for (const details of all("details.holds-entries")) {
      const matches = active && all("[data-kind]", details).some((entry) => !entry.hidden);
      if (matches && !details.open) {
        details.open = true;
        opened.add(details);
      }
    }
    if (!active) {
      opened.forEach((details) => (details.open = false));
      opened.clear();
    }
    told.textContent = active ? `${shown.toLocaleString("en")} of ${entries.length.toLocaleString("en")}` : "";
    one("#nothing").hidden = !active || shown > 0;
  };
  let waiting = 0;
  words.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  kind.addEventListener("change", filter);
  status.addEventListener("change", filter);
  filter();

  // What is folded away is printed too, but for the messages: they would be most of the paper.

  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = all("details:not(.messages, .preview):not([open])");
    unfolded.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => unfolded.forEach((details) => (details.open = false)));
})();
