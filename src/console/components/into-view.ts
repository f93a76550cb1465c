/** As a `ref` of what a click has brought, which may be below the part of a dialog that is seen. */
export function intoView(element: Element | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}
