/**
 * Keeps a dialog below the box that it belongs to; beside it where the window has no room below; else over it. The
 * page's own layout does not change, so nothing on it moves.
 */

/** To the edges of the window, and to the box. */
const MARGIN_PX = 8;
/** In less than the default width of the box, a picture has no room. */
const WIDTH_MIN_PX = 300;
/** With more, a picture is higher than many windows. */
const WIDTH_MAX_PX = 400;

/** Returns a function that stops. */
export function followBox(dialog: HTMLElement, box: HTMLElement): () => void {
  const place = (): void => {
    const at = box.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const width = Math.min(Math.max(at.width, WIDTH_MIN_PX), WIDTH_MAX_PX, clientWidth - 2 * MARGIN_PX);
    const isRtl = getComputedStyle(box).direction === 'rtl';
    dialog.style.width = `${width}px`;
    const below = at.bottom + MARGIN_PX;
    const isRoomBelow = below + dialog.offsetHeight + MARGIN_PX <= clientHeight;
    const beside = isRtl ? at.left - MARGIN_PX - width : at.right + MARGIN_PX;
    const isRoomBeside = beside >= MARGIN_PX && beside + width + MARGIN_PX <= clientWidth;
    const left = !isRoomBelow && isRoomBeside ? beside : isRtl ? at.right - width : at.left;
    dialog.style.left = within(left, width, clientWidth);
    dialog.style.top = within(below, dialog.offsetHeight, clientHeight);
  };
  const sizes = new ResizeObserver(place);
  sizes.observe(dialog);
  addEventListener('scroll', place, true);
  addEventListener('resize', place);
  place();
  return () => {
    sizes.disconnect();
    removeEventListener('scroll', place, true);
    removeEventListener('resize', place);
  };
}

function within(wantedPx: number, sizePx: number, roomPx: number): string {
  return `${Math.max(MARGIN_PX, Math.min(wantedPx, roomPx - sizePx - MARGIN_PX))}px`;
}
