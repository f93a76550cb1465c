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
