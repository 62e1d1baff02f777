// Before anything is drawn: light or dark, as chosen here or by the system.
// A cookie keeps the choice, since it is the same for every port; the page's own storage is new with each.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => document.cookie.match(/(?:^|; )graphrag-theme=(light|dark)/)?.[1];
  const apply = () => {
    document.documentElement.dataset.theme = chosen() ?? (system.matches ? "dark" : "light");
    document.dispatchEvent(new CustomEvent("theme"));
  };
  window.toggleTheme = () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.cookie = `graphrag-theme=${next}; Path=/; Max-Age=31536000; SameSite=Strict`;
    apply();
  };
  system.addEventListener("change", apply);
  apply();
})();
