/**
 * Contrast as a browser computes it, for pages under test. An expression for `Page.run`; it comes to `{ poor, measured, weakestEdge,
 * page }`: texts whose contrast is too weak, how many were measured, the weakest edge of a control, and the ground of the page.
 */

/** Texts whose contrast with what is behind them is less than WCAG 2.2 AA asks for (4.5, or 3 where they are large). */
export const CONTRAST = `(() => {
  const channels = (color) => { const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const light = ({ r, g, b }) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((all, v, at) => all + v * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => { for (let at = one; at !== null; at = at.parentElement) { const color = channels(getComputedStyle(at).backgroundColor); if (color.a === 1) return color; } return { r: 255, g: 255, b: 255 }; };
  const poor = [];
  let measured = 0;
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "") || one.matches("input");
    if (!own || !one.checkVisibility({ visibilityProperty: true }) || one.matches(".skip, option, noscript *")) continue;
    const style = getComputedStyle(one);
    const [a, b] = [light(channels(style.color)), light(behind(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    measured += 1;
    if (ratio < (large ? 3 : 4.5)) poor.push(one.tagName + "." + one.className + " " + ratio.toFixed(2) + " " + one.textContent.slice(0, 30));
  }
  const edges = [...document.querySelectorAll("button, input, select")].filter((one) => one.checkVisibility()).map((one) => {
    const [a, b] = [light(channels(getComputedStyle(one).borderTopColor)), light(behind(one.parentElement))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  return { poor, measured, weakestEdge: Math.min(...edges), page: getComputedStyle(document.documentElement).backgroundColor };
})()`;
