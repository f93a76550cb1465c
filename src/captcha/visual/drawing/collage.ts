/**
 * A collage: pieces of patterned paper glued over each other, all with the same kind of rim and shadow under one light.
 * The edge of the figure looks like the edge of every scrap, and its tones are theirs, so no threshold, cluster or edge
 * filter separates it. People see what lies on top.
 */
import type { DrawRandom } from '../draw-random.ts';
import type { Canvas, Tint } from './canvas.ts';
import type { Path } from './outline.ts';
import { newPaper } from './paper.ts';
import type { Paper } from './paper.ts';
import { BAND_PX, regionOf } from './region.ts';
import type { Region } from './region.ts';

/** Width of the lit or dark rim of a paper, pixels. */
const RIM_PX = 2.5;
const SHADOW_PX = 3;
/** Grain of the paper, of 255. */
const GRAIN = 22;
/** How far a foil shifts colours, of 128. */
const FOIL_HUE = [18, 40] as const;
/** Tones of neighbouring papers, if possible. */
const APART = 30;

export interface CutDepth {
  /** Of the rim, as a share of a glued piece's. */
  rim: number;
  /** Added to the light of the ground of the cut. */
  tone: number;
}

export class Collage {
  readonly #random: DrawRandom;
  readonly #width: number;
  readonly #height: number;
  readonly #papers: Paper[];
  /** Index of the paper on top, and of the one below where an edge is soft. */
  readonly #top: Uint8Array<ArrayBuffer>;
  readonly #below: Uint8Array<ArrayBuffer>;
  /** How much of the paper on top covers the pixel. */
  readonly #covers: Float32Array<ArrayBuffer>;
  readonly #shade: Float32Array<ArrayBuffer>;
  /** Of the foils over each pixel. */
  readonly #washBlue: Int8Array<ArrayBuffer>;
  readonly #washRed: Int8Array<ArrayBuffer>;
  readonly #light: { x: number; y: number; shadow: number; rim: number };

  constructor(random: DrawRandom, width: number, height: number) {
    this.#random = random;
    this.#width = width;
    this.#height = height;
    this.#papers = [newPaper(random, [], 0)];
    this.#top = new Uint8Array(width * height);
    this.#below = new Uint8Array(width * height);
    this.#covers = new Float32Array(width * height).fill(1);
    this.#shade = new Float32Array(width * height);
    this.#washBlue = new Int8Array(width * height);
    this.#washRed = new Int8Array(width * height);
    const angle = random.next() * 2 * Math.PI;
    this.#light = {
      x: Math.cos(angle),
      y: Math.sin(angle),
      shadow: random.between(55, 85),
      rim: random.between(22, 34),
    };
  }

  /** Glues a piece of new paper on top. At most 255 pieces. */
  glue(path: Path): void {
    const region = regionOf(path, this.#width, this.#height);
    this.#castShadow(region, Math.round(this.#light.x * SHADOW_PX), Math.round(this.#light.y * SHADOW_PX));
    this.#cover(region, 1, 0);
  }

  /** Cuts a piece out, down to new paper: its rim is in the shade where another piece's is lit. */
  cut(path: Path, { rim, tone }: CutDepth): void {
    this.#cover(regionOf(path, this.#width, this.#height), -rim, tone);
  }

  /**
   * Lays a clear, coloured foil over everything. It changes no light and has no rim, so people look through it. A program
   * that reads colours finds its edges as strong as those of the papers.
   */
  tint(path: Path): void {
    const { left, top, width, height, distances, spans } = regionOf(path, this.#width, this.#height);
    const hue = this.#random.next() * 2 * Math.PI;
    const depth = this.#random.between(...FOIL_HUE);
    const [blue, red] = [depth * Math.cos(hue), depth * Math.sin(hue)];
    for (let row = 0; row < height; row++) {
      for (let column = spans[2 * row]!; column < spans[2 * row + 1]!; column++) {
        if (distances[row * width + column]! <= 0) continue;
        const pixel = (row + top) * this.#width + left + column;
        this.#washBlue[pixel] = limited(this.#washBlue[pixel]! + blue);
        this.#washRed[pixel] = limited(this.#washRed[pixel]! + red);
      }
    }
  }

  /** Paints all of it at `left`, `top` of the canvas. */
  paint(canvas: Canvas, left: number, top: number): void {
    const [random, width, papers] = [this.#random, this.#width, this.#papers];
    const [tops, below, covers, shade] = [this.#top, this.#below, this.#covers, this.#shade];
    const slope = random.between(8, 26) / width;
    const towards = random.next() * 2 * Math.PI;
    const [slopeX, slopeY] = [Math.cos(towards) * slope, Math.sin(towards) * slope];
    const wash: Tint = { blue: 0, red: 0 };
    for (let y = 0, pixel = 0; y < this.#height; y++) {
      const light = (y - this.#height / 2) * slopeY - (width / 2) * slopeX - GRAIN / 2;
      for (let x = 0; x < width; x++, pixel++) {
        const paper = papers[tops[pixel]!]!;
        const cover = covers[pixel]!;
        let tone = paper.toneAt(x, y);
        if (cover < 1) tone = tone * cover + papers[below[pixel]!]!.toneAt(x, y) * (1 - cover);
        tone += shade[pixel]! + light + x * slopeX + (random.bits() & 255) * (GRAIN / 255);
        wash.blue = this.#washBlue[pixel]!;
        wash.red = this.#washRed[pixel]!;
        canvas.put(left + x, top + y, tone, paper, wash);
      }
    }
  }

  #cover(region: Region, rimHeight: number, tone: number): void {
    const paper = this.#papers.push(newPaper(this.#random, this.#papers, APART)) - 1;
    const { left, top: from, width, height, distances, spans } = region;
    const [top, below, covers, shade] = [this.#top, this.#below, this.#covers, this.#shade];
    for (let row = 0; row < height; row++) {
      const end = spans[2 * row + 1]!;
      for (let column = spans[2 * row]!; column < end; column++) {
        const distance = distances[row * width + column]!;
        if (distance <= -0.5) continue;
        const pixel = (row + from) * this.#width + left + column;
        below[pixel] = top[pixel]!;
        top[pixel] = paper;
        covers[pixel] = distance < 0.5 ? distance + 0.5 : 1;
        shade[pixel] = tone + (distance < RIM_PX ? rimHeight * this.#rim(region, column, row) : 0);
      }
    }
  }

  #castShadow(region: Region, shiftX: number, shiftY: number): void {
    const { left, top, width, height, distances, spans } = region;
    const strength = this.#light.shadow / (BAND_PX + 2);
    for (let row = 0; row < height; row++) {
      const y = row + top + shiftY;
      if (y < 0 || y >= this.#height) continue;
      for (let column = spans[2 * row]!; column < spans[2 * row + 1]!; column++) {
        const x = column + left + shiftX;
        const depth = Math.min(2, distances[row * width + column]!) + BAND_PX;
        if (depth > 0 && x >= 0 && x < this.#width) this.#shade[y * this.#width + x]! -= depth * strength;
      }
    }
  }

  /** Lit where the edge faces the light. The shadow falls to the other side. */
  #rim({ width, height, distances }: Region, column: number, row: number): number {
    const at = (x: number, y: number): number =>
      distances[Math.min(height - 1, Math.max(0, y)) * width + Math.min(width - 1, Math.max(0, x))]!;
    const slopeX = at(column + 1, row) - at(column - 1, row);
    const slopeY = at(column, row + 1) - at(column, row - 1);
    return (slopeX * this.#light.x + slopeY * this.#light.y) * this.#light.rim;
  }
}

function limited(value: number): number {
  return Math.min(127, Math.max(-128, value));
}
