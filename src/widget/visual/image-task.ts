/**
 * "Choose all pictures that show …": a grid of toggle buttons. Arrow keys move the focus, Space toggles, Enter submits.
 * Screen readers get the tiles' numbers only; visitors who cannot see them choose the audio task.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import type { ImageTask, ShapeName } from '../../contract/captcha/challenge-api.ts';
import { drawing, element } from '../dom/elements.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';
import { decodePicture, pictureCanvas } from './picture.ts';
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

/**
 * The shape to look for as a small drawing beside its name, since a word can be ambiguous or in a language that the
 * visitor does not read well.
 */
const outlines: Record<ShapeName, string> = {
  circle: 'M12 2a10 10 0 1 0 .01 0z',
  triangle: 'M12 2 22 21H2z',
  square: 'M3 3h18v18H3z',
  star: 'm12 1.500 2.900 6.700 7.200.700-5.500 4.700 1.700 7.100L12 17l-6.300 3.700 1.700-7.100L1.900 8.900l7.200-.700z',
  heart: 'M12 21C3 14 1 10 2.500 6.500 4.500 2.500 10 3 12 7c2-4 7.500-4.500 9.500-.500C23 10 21 14 12 21z',
  moon: 'M16 2.500A10 10 0 1 0 21.500 15 8 8 0 0 1 16 2.500z',
  cross: 'M9 2h6v7h7v6h-7v7H9v-7H2V9h7z',
  arrow: 'm12 1 9 11h-6v11H9V12H3z',
};

function shapeDrawing(shape: ShapeName): SVGElement {
  return drawing({ class: 'shape', viewBox: '0 0 24 24' }, 'path', { d: outlines[shape] });
}
