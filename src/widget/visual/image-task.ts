/**
 * "Choose all pictures that show …": a grid of toggle buttons. Arrow keys move the focus, Space toggles, Enter submits.
 * Screen readers get the tiles' numbers only; visitors who cannot see them choose the audio task.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import type { ImageTask } from '../../contract/captcha/challenge-api.ts';
import { element } from '../dom/create-element.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';
import { decodePicture, pictureCanvas } from './picture.ts';
import { shapeDrawing } from './shape-drawing.ts';
import { createFrame } from './task-frame.ts';

export function showImageTask(
  panel: HTMLElement,
  task: VisualTask,
  image: ImageTask,
  messages: TaskMessages,
): Promise<VisualOutcome> {
  const name = messages[image.shape];
  const rounds = image.rounds > 1 ? ` (${image.round}/${image.rounds})` : '';
  // The drawing stays on one line with its name.
  const wanted = element('strong', { class: 'wanted' }, name);
  wanted.prepend(shapeDrawing(image.shape));
  const tiles: HTMLButtonElement[] = [];
  const frame = createFrame(
    panel,
    task,
    messages,
    {
      instruction: [`${messages.choose} `, wanted, rounds],
      other: messages.sound,
    },
    () => ({ selected: tiles.flatMap((tile, index) => (tile.ariaPressed === 'true' ? [index] : [])) }),
  );
  const picture = decodePicture(image.picture);
  const width = Math.floor(picture.width / image.columns);
  const height = Math.floor(picture.height / image.rows);
  const grid = element('div', { class: 'grid' });
  grid.style.gridTemplateColumns = `repeat(${image.columns}, 1fr)`;
  for (let index = 0; index < image.columns * image.rows; index++) {
    const label = `${messages.tile} ${index + 1}`;
    const tile = element('button', { class: 'tile', type: 'button', 'aria-pressed': 'false', 'aria-label': label });
    const [column, row] = [index % image.columns, Math.floor(index / image.columns)];
    tile.append(pictureCanvas(picture, column * width, row * height, width, height));
    tile.addEventListener('click', () => {
      tile.ariaPressed = tile.ariaPressed === 'true' ? 'false' : 'true';
    });
    tiles.push(tile);
  }
  grid.append(...tiles);
  grid.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      frame.submit();
      return;
    }
    const rightwards = getComputedStyle(grid).direction === 'rtl' ? -1 : 1;
    const steps: Record<string, number> = {
      ArrowRight: rightwards,
      ArrowLeft: -rightwards,
      ArrowDown: image.columns,
      ArrowUp: -image.columns,
    };
    const at = tiles.indexOf(event.target as HTMLButtonElement);
    const next = tiles[at + (steps[event.key] ?? NaN)];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  });
  frame.body.append(grid);
  return frame.done;
}
