/**
 * A collage: pieces of patterned paper glued over each other, all with the same kind of rim and shadow under one light.
 * The edge of the figure looks like the edge of every scrap, and some scraps are darker, some lighter than the figure, so
 * no single threshold separates it. People see what lies on top.
 */
import { COLOUR_STEP_PX } from '../../../contract/captcha/challenge-api.ts';
import type { DrawRandom } from '../draw-random.ts';
import type { Canvas } from './canvas.ts';
import type { OutlinePath } from './outline.ts';
import { figureTone, groundTone, Paper } from './paper.ts';
import { BAND_PX, type Region, RegionMeasure } from './region.ts';

/** Width of the lit or dark rim of a paper, pixels. */
const RIM_PX = 2.5;
const SHADOW_PX = 3;
/** Grain of the paper, of 255. */
const GRAIN = 12;
/** A canvas has one colour for each step of pixels: that of the pixel in its middle. */
const COLOUR_GRID = { first: COLOUR_STEP_PX / 2, step: COLOUR_STEP_PX } as const;

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
  readonly #measure: RegionMeasure;
  readonly #figureTone: number;
  readonly #papers: Paper[];
  /** Of the last paper of the ground. */
  #isDark: boolean;
  /** Index of the paper on top, and of the one below where an edge is soft. */
  readonly #top: Uint8Array<ArrayBuffer>;
  readonly #below: Uint8Array<ArrayBuffer>;
  /** How much of the paper on top covers the pixel. */
  readonly #covers: Float32Array<ArrayBuffer>;
  readonly #shade: Float32Array<ArrayBuffer>;
  readonly #light: { x: number; y: number; shadow: number; rim: number };

  constructor(random: DrawRandom, width: number, height: number) {
    this.#random = random;
    this.#width = width;
    this.#height = height;
    this.#measure = new RegionMeasure(width, height);
    this.#figureTone = figureTone(random);
    this.#isDark = random.next() < 0.5;
    this.#papers = [this.#groundPaper()];
    this.#top = new Uint8Array(width * height);
    this.#below = new Uint8Array(width * height);
    this.#covers = new Float32Array(width * height).fill(1);
    this.#shade = new Float32Array(width * height);
    const angle = random.next() * 2 * Math.PI;
    this.#light = {
      x: Math.cos(angle),
      y: Math.sin(angle),
      shadow: random.between(55, 85),
      rim: random.between(22, 34),
    };
  }

  /** Glues a scrap of the ground on top. At most 255 pieces in all. */
  glueScrap(path: OutlinePath): void {
    this.#glue(path, this.#groundPaper());
  }

  glueFigure(path: OutlinePath): void {
    this.#glue(path, new Paper(this.#random, this.#figureTone));
  }

  /** Cuts a figure out, down to new paper: its rim is in the shade where that of a glued one is lit. */
  cutFigure(path: OutlinePath, { rim, tone }: CutDepth): void {
    this.#cover(this.#measure.regionOf(path), new Paper(this.#random, this.#figureTone), -rim, tone);
  }

  /** Paints all of it at `left`, `top` of the canvas: multiples of `COLOUR_STEP_PX`. */
  paint(canvas: Canvas, left: number, top: number): void {
    const [random, width, papers] = [this.#random, this.#width, this.#papers];
    const [tops, below, covers, shade] = [this.#top, this.#below, this.#covers, this.#shade];
    const slope = random.between(8, 26) / width;
    const towards = random.next() * 2 * Math.PI;
    const [slopeX, slopeY] = [Math.cos(towards) * slope, Math.sin(towards) * slope];
    const tones = new Float64Array(width);
    const grain = new Uint8Array(width);
    for (let y = 0, start = 0; y < this.#height; y++, start += width) {
      const light = (y - this.#height / 2) * slopeY - (width / 2) * slopeX - GRAIN / 2;
      for (let from = 0, to = 0; from < width; from = to) {
        const paper = tops[start + from]!;
        do to++;
        while (to < width && tops[start + to] === paper);
        papers[paper]!.writeTones(tones, y, from, to);
      }
      random.noise(grain);
      for (let x = 0; x < width; x++) {
        const cover = covers[start + x]!;
        let tone = tones[x]!;
        if (cover < 1) tone = tone * cover + papers[below[start + x]!]!.toneAt(x, y) * (1 - cover);
        tones[x] = tone + (shade[start + x]! + light + x * slopeX + grain[x]! * (GRAIN / 255));
      }
      canvas.putLight(left, top + y, tones);
    }
    for (let y = COLOUR_GRID.first; y < this.#height; y += COLOUR_GRID.step) {
      for (let x = COLOUR_GRID.first; x < width; x += COLOUR_GRID.step) {
        const pixel = y * width + x;
        const { blue, red } = papers[tops[pixel]!]!;
        canvas.putColour(left + x, top + y, blue, red);
      }
    }
  }

  #groundPaper(): Paper {
    this.#isDark = !this.#isDark;
    return new Paper(this.#random, groundTone(this.#random, this.#figureTone, this.#isDark));
  }

  #glue(path: OutlinePath, paper: Paper): void {
    const region = this.#measure.regionOf(path);
    this.#castShadow(region, Math.round(this.#light.x * SHADOW_PX), Math.round(this.#light.y * SHADOW_PX));
    this.#cover(region, paper, 1, 0);
  }

  #cover(region: Region, newPaper: Paper, rimHeight: number, tone: number): void {
    const paper = this.#papers.push(newPaper) - 1;
    const { left, top: from, width, height, distances, spans } = region;
    const [top, below, covers, shade] = [this.#top, this.#below, this.#covers, this.#shade];
    for (let row = 0; row < height; row++) {
      const end = spans[2 * row + 1]!;
      for (let column = spans[2 * row]!; column < end; column++) {
        const distance = distances[row * width + column]!;
        if (distance <= -0.5) continue;
        const pixel = (row + from) * this.#width + left + column;
        if (distance < 0.5) below[pixel] = top[pixel]!;
        top[pixel] = paper;
        covers[pixel] = distance < 0.5 ? distance + 0.5 : 1;
        shade[pixel] = tone + (distance < RIM_PX ? rimHeight * this.#rim(region, column, row) : 0);
      }
    }
  }

  /** The piece covers the shadow below it, so its inner pixels cast none: the shift is shorter than `BAND_PX`. */
  #castShadow(region: Region, shiftX: number, shiftY: number): void {
    const { left, top, width, height, distances, spans } = region;
    const [shade, shadeWidth] = [this.#shade, this.#width];
    const strength = this.#light.shadow / (BAND_PX + 2);
    for (let row = 0; row < height; row++) {
      const y = row + top + shiftY;
      if (y < 0 || y >= this.#height) continue;
      const first = Math.max(spans[2 * row]!, -left - shiftX);
      const end = Math.min(spans[2 * row + 1]!, shadeWidth - left - shiftX);
      for (let column = first; column < end; column++) {
        const distance = distances[row * width + column]!;
        if (distance === BAND_PX) continue;
        const depth = Math.min(2, distance) + BAND_PX;
        if (depth > 0) shade[y * shadeWidth + column + left + shiftX]! -= depth * strength;
      }
    }
  }

  /** Lit where the edge faces the light. The shadow falls to the other side. */
  #rim({ width, height, distances }: Region, column: number, row: number): number {
    const at = row * width + column;
    const slopeX = distances[column + 1 < width ? at + 1 : at]! - distances[column > 0 ? at - 1 : at]!;
    const slopeY = distances[row + 1 < height ? at + width : at]! - distances[row > 0 ? at - width : at]!;
    return (slopeX * this.#light.x + slopeY * this.#light.y) * this.#light.rim;
  }
}
