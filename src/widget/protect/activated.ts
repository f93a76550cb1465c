/**
 * A browser may prepare a page that nobody has opened yet (prerendering). Such a page does no work and reports nothing
 * until it is shown: the visitor may never come.
 */
export function activated(): Promise<void> {
  if ((document as Document & { prerendering?: boolean }).prerendering !== true) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener('prerenderingchange', () => resolve(), { once: true });
  });
}
