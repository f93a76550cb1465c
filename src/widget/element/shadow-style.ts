/**
 * Styles for a shadow root. A constructed sheet is allowed by every CSP; browsers before 2023 that
 * cannot construct one get a style element, which a strict page then has to allow by nonce.
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
