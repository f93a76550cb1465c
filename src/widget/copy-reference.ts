/** The button beside a page's reference. Without scripts, or without a clipboard, it stays hidden. */
export function offerCopy(): void {
  const button = document.querySelector<HTMLButtonElement>('.copy');
  const reference = document.querySelector('footer code')?.textContent;
  // Browsers have a clipboard on secure pages only. `lib.dom` says that it is always there.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (button === null || reference === undefined || clipboard === undefined) return;
  button.hidden = false;
  const copy = async (): Promise<void> => {
    await clipboard.writeText(reference);
    button.textContent = button.dataset['copied'] ?? '';
  };
  button.addEventListener('click', () => void copy());
}
