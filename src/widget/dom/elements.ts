/** Builds HTML and SVG node by node, without markup strings, so that Trusted Types have nothing to refuse. */

const SVG = 'http://www.w3.org/2000/svg';

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string> = {},
  text = '',
): HTMLElementTagNameMap[Tag] {
  const node = withAttributes(document.createElement(tag), attributes);
  node.textContent = text;
  return node;
}

/** An SVG of one shape, hidden from screen readers. */
export function drawing(
  attributes: Record<string, string>,
  shape: 'circle' | 'path',
  shapeAttributes: Record<string, string>,
): SVGElement {
  const svg = withAttributes(document.createElementNS(SVG, 'svg'), { 'aria-hidden': 'true', ...attributes });
  svg.append(withAttributes(document.createElementNS(SVG, shape), shapeAttributes));
  return svg;
}

function withAttributes<Node extends Element>(node: Node, attributes: Record<string, string>): Node {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/**
 * Styles for a shadow root. Every CSP allows a constructed style sheet. Browsers before 2023 that cannot construct one
 * get a style element, which a strict page must allow by nonce.
 */
export function styleShadow(root: ShadowRoot, css: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
  } catch {
    const style = document.createElement('style');
    style.textContent = css;
    root.prepend(style);
  }
}
