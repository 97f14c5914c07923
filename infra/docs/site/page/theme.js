/** Shows the chosen theme before the page appears. It is not a module, because modules run later. */
{
  const chosen = localStorage.getItem('theme');
  if (chosen) document.documentElement.dataset.theme = chosen;
}
