try {
  const theme = localStorage.getItem("afterturn-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // A page from a file may be denied storage; it then follows the system.
}
document.documentElement.classList.add("js");
