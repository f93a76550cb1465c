/**
 * "Move the circle onto the same shape": by dragging, by a single click on the place (WCAG 2.2 SC 2.5.7 requires a way
 * without dragging), or by arrow keys. Positions are pixels of the picture, independent of its size on the screen.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import type { PuzzleTask } from '../../contract/captcha/challenge-api.ts';
import { element } from '../dom/elements.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';
import { decodePicture, pictureCanvas } from './picture.ts';
import { createFrame } from './task-frame.ts';

/** The service refuses longer paths. */
const PATH_MAX_POINTS = 1000;
const KEY_STEP_PX = 2;
/** With Shift. */
const KEY_LEAP_PX = 20;

const directions: Record<string, readonly [x: number, y: number]> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

export function showPuzzleTask(
  panel: HTMLElement,
  task: VisualTask,
  puzzle: PuzzleTask,
  messages: TaskMessages,
): Promise<VisualOutcome> {
  const { background, piece } = puzzle;
  const [maxX, maxY] = [background.width - piece.width, background.height - piece.height];
  const startedAt = performance.now();
  const path: [x: number, y: number, ms: number][] = [];
  let [x, y] = [puzzle.originX, puzzle.originY];

  const frame = createFrame(panel, task, messages, { instruction: [messages.move], other: messages.sound }, () => ({
    finalX: Math.round(x),
    finalY: Math.round(y),
    path,
  }));
  const ground = decodePicture(background);
  const board = element('div', { class: 'board' });
  const handle = element('div', {
    class: 'piece',
    tabindex: '0',
    role: 'application',
    'aria-label': messages.piece,
    'aria-describedby': 'instruction',
  });
  handle.append(pictureCanvas(decodePicture(piece), 0, 0, piece.width, piece.height));
  handle.style.width = `${(100 * piece.width) / background.width}%`;
  board.append(pictureCanvas(ground, 0, 0, background.width, background.height), handle);
  frame.body.append(board);

  function moveTo(nextX: number, nextY: number): void {
    x = Math.min(maxX, Math.max(0, nextX));
    y = Math.min(maxY, Math.max(0, nextY));
    handle.style.left = `${(100 * x) / background.width}%`;
    handle.style.top = `${(100 * y) / background.height}%`;
    const point: (typeof path)[number] = [Math.round(x), Math.round(y), Math.round(performance.now() - startedAt)];
    if (path.length < PATH_MAX_POINTS) path.push(point);
  }
  moveTo(x, y);

  handle.addEventListener('keydown', (event) => {
    const direction = directions[event.key];
    if (event.key === 'Enter') frame.submit();
    else if (direction !== undefined) {
      const step = event.shiftKey ? KEY_LEAP_PX : KEY_STEP_PX;
      moveTo(x + direction[0] * step, y + direction[1] * step);
    } else return;
    event.preventDefault();
  });
  dragOn(board, handle, background.width, (shownX, shownY, grabbed) => {
    const [fromX, fromY] = grabbed ?? [piece.width / 2, piece.height / 2];
    moveTo(shownX - fromX, shownY - fromY);
  });
  return frame.done;
}

/**
 * Calls `onMove` with the pointer's position in picture pixels. While the piece is held, `grabbed` is the position
 * within the piece where it was grabbed.
 */
function dragOn(
  board: HTMLElement,
  handle: HTMLElement,
  pictureWidth: number,
  onMove: (x: number, y: number, grabbed: readonly [number, number] | null) => void,
): void {
  let grabbed: [number, number] | null = null;

  function inPicture(event: PointerEvent, node: Element): [number, number] {
    const scale = pictureWidth / board.getBoundingClientRect().width;
    const box = node.getBoundingClientRect();
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }

  board.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    handle.focus();
    const onPiece = event.composedPath().includes(handle);
    grabbed = onPiece ? inPicture(event, handle) : null;
    if (onPiece) board.setPointerCapture(event.pointerId);
    else onMove(...inPicture(event, board), null);
  });
  board.addEventListener('pointermove', (event) => {
    if (grabbed !== null) onMove(...inPicture(event, board), grabbed);
  });
  for (const type of ['pointerup', 'pointercancel'] as const)
    board.addEventListener(type, () => {
      grabbed = null;
    });
}
