/** What the demo shop sells. */
import type { Drawing } from './pictures.ts';

export interface Product {
  slug: string;
  name: string;
  about: string;
  /** In cents. */
  price: number;
  picture: Drawing;
  /** Behind the picture, as a class of the style sheet. */
  tile: 'sea' | 'clay' | 'sun' | 'leaf';
}

export const products: readonly Product[] = [
  {
    slug: 'gooseneck-kettle',
    name: 'Gooseneck kettle',
    about: 'Pours slowly, where you want it. Enamel, 0.9 litres.',
    price: 6400,
    picture: 'kettle',
    tile: 'sea',
  },
  {
    slug: 'speckled-mug',
    name: 'Speckled mug',
    about: 'Thrown by hand, so no two have the same dots.',
    price: 1800,
    picture: 'mug',
    tile: 'clay',
  },
  {
    slug: 'reading-lamp',
    name: 'Reading lamp',
    about: 'Warm light on the page and none in your eyes.',
    price: 7900,
    picture: 'lamp',
    tile: 'sun',
  },
  {
    slug: 'fern-in-a-pot',
    name: 'Fern in a pot',
    about: 'Likes shade, and a glass of water on Sundays.',
    price: 2400,
    picture: 'fern',
    tile: 'leaf',
  },
  {
    slug: 'oak-stool',
    name: 'Oak stool',
    about: 'A seat, a step or a small table.',
    price: 9500,
    picture: 'stool',
    tile: 'clay',
  },
  {
    slug: 'wall-clock',
    name: 'Wall clock',
    about: 'Silent, with one red hand for the seconds.',
    price: 4200,
    picture: 'clock',
    tile: 'sea',
  },
  {
    slug: 'dotted-notebook',
    name: 'Dotted notebook',
    about: '160 pages that lie flat when it is open.',
    price: 1400,
    picture: 'notebook',
    tile: 'sun',
  },
  {
    slug: 'day-pack',
    name: 'Day pack',
    about: '18 litres, one pocket for the things you look for.',
    price: 8800,
    picture: 'backpack',
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
