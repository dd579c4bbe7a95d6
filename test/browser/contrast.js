(() => {
  // A colour as [red, green, blue, alpha], the first three in linear light, as WCAG 2.1 defines relative luminance.
  const parse = css => {
    const n = css.match(/[\d.]+/g).map(Number);
    return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const luminance = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const over = (top, below) => top.map((v, i) => i < 3 ? v * top[3] + below[i] * (1 - top[3]) : 1);

  // What is behind an element: the backgrounds up to the first that is opaque, painted over each other.
  const behind = e => {
    const layers = [];
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reduceRight((below, c) => over(c, below), [255, 255, 255, 1]);
  };

  const faint = [], seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement, style = getComputedStyle(e);
    if (!n.textContent.trim() || seen.has(e) || e.closest('script, style') || !e.checkVisibility({opacityProperty: true}))
      continue;
    seen.add(e);
    const back = behind(e), front = over(parse(style.color), back);
    const [a, b] = [luminance(front), luminance(back)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)}: ${n.textContent.trim().slice(0, 40)}`);
  }
  return faint;
})()
