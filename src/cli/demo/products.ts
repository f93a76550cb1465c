/** What the demo shop sells, with its pictures. */
import { raw } from 'hono/html';
import type { Html } from '../../edge/answer/pages/page-layout.ts';

export interface Product {
  slug: string;
  name: string;
  about: string;
  /** In cents. */
  price: number;
  drawn: Drawing;
  /** Behind the picture, as a class of the style sheet. */
  tile: 'sea' | 'clay' | 'sun' | 'leaf';
}

export const products: readonly Product[] = [
  {
    slug: 'gooseneck-kettle',
    name: 'Gooseneck kettle',
    about: 'Pours slowly, where you want it. Enamel, 0.9 litres.',
    price: 6400,
    drawn: 'kettle',
    tile: 'sea',
  },
  {
    slug: 'speckled-mug',
    name: 'Speckled mug',
    about: 'Thrown by hand, so no two have the same dots.',
    price: 1800,
    drawn: 'mug',
    tile: 'clay',
  },
  {
    slug: 'reading-lamp',
    name: 'Reading lamp',
    about: 'Warm light on the page and none in your eyes.',
    price: 7900,
    drawn: 'lamp',
    tile: 'sun',
  },
  {
    slug: 'fern-in-a-pot',
    name: 'Fern in a pot',
    about: 'Likes shade, and a glass of water on Sundays.',
    price: 2400,
    drawn: 'fern',
    tile: 'leaf',
  },
  {
    slug: 'oak-stool',
    name: 'Oak stool',
    about: 'A seat, a step or a small table.',
    price: 9500,
    drawn: 'stool',
    tile: 'clay',
  },
  {
    slug: 'wall-clock',
    name: 'Wall clock',
    about: 'Silent, with one red hand for the seconds.',
    price: 4200,
    drawn: 'clock',
    tile: 'sea',
  },
  {
    slug: 'dotted-notebook',
    name: 'Dotted notebook',
    about: '160 pages that lie flat when it is open.',
    price: 1400,
    drawn: 'notebook',
    tile: 'sun',
  },
  {
    slug: 'day-pack',
    name: 'Day pack',
    about: '18 litres, one pocket for the things you look for.',
    price: 8800,
    drawn: 'backpack',
    tile: 'leaf',
  },
];

/** Enough for any name in the shop. */
const SEARCH_MAX_CHARS = 100;

/** The products whose name or text has every word. */
export function foundProducts(wanted: string): readonly Product[] {
  const words = wanted.slice(0, SEARCH_MAX_CHARS).toLowerCase().split(/\s+/).filter(Boolean);
  return products.filter(({ name, about }) => {
    const text = `${name} ${about}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function productOf(slug: string): Product | null {
  return products.find((product) => product.slug === slug) ?? null;
}

export function euros(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

/**
 * The shop's pictures: flat drawings in SVG, written into the pages, so that a page of the demo loads nothing. Constants
 * without any value from outside.
 */
const drawings = {
  kettle:
    '<path d="M92 40h40c26 0 42 22 42 48v34H78V66c0-15 2-26 14-26z" fill="#2f5d62"/><path d="M80 92C58 92 62 58 34 52l-4 8c20 6 22 46 50 46z" fill="#2f5d62"/><path d="M170 54c24-4 30 38 4 46" fill="none" stroke="#16343a" stroke-width="9" stroke-linecap="round"/><path d="M92 34h38v7H92z" fill="#16343a"/><circle cx="111" cy="28" r="7" fill="#d9a441"/><path d="M72 122h108v8H72z" fill="#16343a"/><path d="M96 56c-6 6-7 18-7 30" fill="none" stroke="#5e8b8f" stroke-width="5" stroke-linecap="round"/>',
  mug: '<path d="M68 46h78v58c0 16-12 26-26 26H94c-14 0-26-10-26-26z" fill="#e9e2d3"/><path d="M146 60c30-4 30 42 0 40" fill="none" stroke="#d3c7ae" stroke-width="11"/><path d="M68 46h78v12H68z" fill="#b5573c"/><g fill="#b5573c"><circle cx="84" cy="76" r="2.500"/><circle cx="102" cy="90" r="2"/><circle cx="124" cy="78" r="2.500"/><circle cx="90" cy="108" r="2"/><circle cx="116" cy="112" r="2.500"/><circle cx="133" cy="98" r="2"/></g><path d="M90 34c-6-8 6-10 0-18M108 34c-6-8 6-10 0-18M126 34c-6-8 6-10 0-18" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" opacity=".75"/>',
  lamp: '<path d="M118 26l44 20-24 36-40-30z" fill="#e2b33c"/><path d="M138 82l-40-30-32 82h84z" fill="#fff3c4" opacity=".55"/><path d="M104 44L66 74l22 48" fill="none" stroke="#31405c" stroke-width="7" stroke-linejoin="round" stroke-linecap="round"/><circle cx="66" cy="74" r="7" fill="#1f2a40"/><path d="M58 122h62v10H58z" fill="#1f2a40"/><circle cx="116" cy="68" r="9" fill="#fff"/>',
  fern: '<path d="M74 92h60l-7 40H81z" fill="#c46a43"/><path d="M70 84h68v12H70z" fill="#a95532"/><path d="M104 86C102 52 84 30 54 24c4 30 20 50 50 62zM104 86c2-34 20-56 50-62-4 30-20 50-50 62zM104 86C92 60 62 54 38 62c14 20 38 30 66 24zM104 86c12-26 42-32 66-24-14 20-38 30-66 24z" fill="#3f8f5b"/><path d="M104 86C96 62 80 44 62 32M104 86c8-24 24-42 42-54M104 86C84 72 66 68 48 66M104 86c20-14 38-18 56-20" fill="none" stroke="#2a6a41" stroke-width="3"/>',
  stool:
    '<path d="M56 46h96c6 0 10 5 10 10s-4 8-10 8H56c-6 0-10-3-10-8s4-10 10-10z" fill="#c89455"/><path d="M70 64h11L68 134H57zM127 64h11l13 70h-11z" fill="#a8753a"/><path d="M66 96h76v8H66z" fill="#8d5f2c"/><path d="M58 52h70" stroke="#e3b781" stroke-width="4" stroke-linecap="round"/>',
  clock:
    '<circle cx="104" cy="76" r="54" fill="#27364f"/><circle cx="104" cy="76" r="44" fill="#f7f4ec"/><g stroke="#27364f" stroke-width="4" stroke-linecap="round"><path d="M104 38v6M104 108v6M66 76h6M136 76h6"/><path d="M104 76V50" stroke-width="5"/><path d="M104 76l18 12" stroke-width="5"/></g><path d="M104 76L88 98" stroke="#cf4f3a" stroke-width="3" stroke-linecap="round"/><circle cx="104" cy="76" r="5" fill="#cf4f3a"/>',
  notebook:
    '<path d="M66 22h74c6 0 10 4 10 10v92c0 6-4 10-10 10H66z" fill="#7a4e8c"/><path d="M58 22h16v112H58c-3 0-5-2-5-5V27c0-3 2-5 5-5z" fill="#593468"/><path d="M88 48h44v22H88z" fill="#f3e9f7"/><path d="M94 56h32M94 63h20" stroke="#7a4e8c" stroke-width="3" stroke-linecap="round"/><path d="M124 134v14l7-6 7 6v-14z" fill="#e2b33c"/><path d="M150 40h4M150 60h4M150 80h4" stroke="#593468" stroke-width="3"/>',
  backpack:
    '<path d="M84 34c0-26 40-26 40 0" fill="none" stroke="#25446b" stroke-width="7"/><path d="M64 70c0-28 16-42 40-42s40 14 40 42v52c0 8-5 12-12 12H76c-7 0-12-4-12-12z" fill="#3a6ea5"/><path d="M76 90h56v32c0 5-3 8-8 8H84c-5 0-8-3-8-8z" fill="#2c5684"/><path d="M76 90h56v9H76z" fill="#e2b33c"/><path d="M100 95h8v12h-8z" fill="#f7f4ec"/><path d="M82 58h44" stroke="#6d9bcb" stroke-width="5" stroke-linecap="round"/>',
} as const;

export type Drawing = keyof typeof drawings;

/** Decorative: the name of the product stands beside it. */
export function drawn(drawing: Drawing): Html {
  return raw(`<svg viewBox="0 0 208 150" aria-hidden="true" focusable="false">${drawings[drawing]}</svg>`);
}

export const lantern = raw(
  '<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M9 5a3 3 0 0 1 6 0" fill="none" stroke="currentColor" stroke-width="1.600"/><path d="M7 6h10l1 3H6z" fill="currentColor"/><path d="M7 10h10v8a3 3 0 0 1-3 3h-4a3 3 0 0 1-3-3z" fill="none" stroke="currentColor" stroke-width="1.600"/><path d="M12 12c2 2 2 3 2 4a2 2 0 0 1-4 0c0-1 1-2 2-4z" fill="#e2a52c"/></svg>',
);
