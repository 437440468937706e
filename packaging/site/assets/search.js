/// <reference lib="dom" />
// Search over the prebuilt index, which is loaded when somebody first searches.
const root = document.documentElement.dataset.root;
const input = document.querySelector("search input");
const list = document.querySelector("#site-results");
const SHOWN = 12;

/** Pages that few people search: figures, changes, and notes on the code. */
const BESIDE = /^(bench|src|fuse)\/|^CHANGELOG/;

/** Resolves to the function that searches. */
let loaded;

function loadSearch() {
  return loaded ??= (async () => {
    await Promise.all(["minisearch.js", "search_index.js"].map(loadScript));
    const { options, index } = self.siteIndex;
    const search = MiniSearch.loadJS(index, options);
    return (text) =>
      search.search(text, {
        combineWith: "AND",
        prefix: true,
        fuzzy: (term) => term.length > 4 ? 0.2 : false,
        boost: { heading: 4, page: 3 },
        boostDocument: (url) => BESIDE.test(url) ? 0.2 : 1,
      });
  })();
}

function loadScript(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}/assets/${name}`;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`Cannot load ${script.src}`));
    document.head.append(script);
  });
}

async function show() {
  const text = input.value.trim();
  if (text === "") return hide();
  const search = await loadSearch();
  if (input.value.trim() !== text) return; // typed on meanwhile
  const found = search(text).slice(0, SHOWN);
  list.replaceChildren(...found.map(item));
  if (found.length === 0) {
    const none = document.createElement("li");
    none.className = "none";
    none.textContent = "Nothing found";
    list.append(none);
  }
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
  select(0);
}

function item({ id, page, heading, text, terms }, i) {
  const entry = document.createElement("li");
  entry.id = `site-result-${i}`;
  entry.role = "option";
  const link = document.createElement("a");
  link.href = `${root}/${id}`;
  link.tabIndex = -1;
  const title = document.createElement("b");
  title.textContent = heading;
  link.append(title);
  if (page !== heading) {
    const where = document.createElement("small");
    where.textContent = ` ${page}`;
    link.append(where);
  }
  const excerpt = document.createElement("p");
  excerpt.append(...excerptOf(text, terms));
  link.append(excerpt);
  entry.append(link);
  return entry;
}

/** The text around the first term that was found in it, with the terms marked. */
function excerptOf(text, terms) {
  const escaped = terms.map((term) =>
    term.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
  );
  const pattern = new RegExp(`(${escaped.join("|")})`, "giu");
  const at = text.search(pattern) - 40;
  const start = at <= 0 ? 0 : text.indexOf(" ", at) + 1;
  const part = (start > 0 ? "…" : "") + text.slice(start, start + 160);
  return part.split(pattern).map((piece, i) => {
    if (i % 2 === 0) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
}

function hide() {
  list.hidden = true;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function select(index) {
  const options = [...list.querySelectorAll('[role="option"]')];
  options.forEach((option, i) => option.ariaSelected = String(i === index));
  const option = options[index];
  if (option === undefined) return;
  input.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

input.addEventListener("input", show);
input.addEventListener("focus", () => {
  loadSearch();
  show();
});
input.addEventListener("keydown", (event) => {
  const options = [...list.querySelectorAll('[role="option"]')];
  const current = options.findIndex((option) => option.ariaSelected === "true");
  if (event.key === "ArrowDown") {
    select(Math.min(current + 1, options.length - 1));
  } else if (event.key === "ArrowUp") select(Math.max(current - 1, 0));
  else if (event.key === "Enter") options[current]?.querySelector("a").click();
  else if (event.key === "Escape") {
    input.blur();
    hide();
  } else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  input.focus();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) hide();
});
list.addEventListener("click", hide);
