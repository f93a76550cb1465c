/**
 * The shape to look for as a small drawing beside its name, since a word can be ambiguous or in a language that the
 * visitor does not read well.
 */
import type { ShapeName } from '../../contract/captcha/challenge-api.ts';
import { drawing } from '../dom/create-element.ts';

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

export function shapeDrawing(shape: ShapeName): SVGElement {
  return drawing({ class: 'shape', viewBox: '0 0 24 24' }, 'path', { d: outlines[shape] });
}
