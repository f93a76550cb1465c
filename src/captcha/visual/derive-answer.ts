/**
 * Derives the right answer of a visual or audio task, its layout, from the jti and the round by a keyed function.
 * Nothing about the answer is stored or sent, not even encrypted. Judging derives it again.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { shapeNames, type ShapeName } from '../../contract/captcha/challenge-api.ts';
import { encodeFields, numberField, textField } from '../seal/field-encoding.ts';
import { keyDay, type Keyring } from '../seal/keyring.ts';

export const IMAGE_COLUMNS = 3;
export const IMAGE_TILES = 9;
/** Fewest and most tiles that show the shape: about half, so that no answer is right by leaving most tiles out. */
const MATCHES_MIN = 3;
const MATCHES_MAX = 6;

/** A guess hits one in 100,000, and five digits are no more than people keep in mind. */
export const AUDIO_DIGITS = 5;

export interface LayoutOf {
  jti: string;
  round: number;
  /** First issue of the jti. A round that is sent again after midnight keeps its layout. */
  bornAt: number;
}

export interface ImageLayout {
  shape: ShapeName;
  /** What each tile shows, in reading order. */
  tiles: readonly ShapeName[];
}

export async function imageLayout(keyring: Keyring, of: LayoutOf): Promise<ImageLayout> {
  const bytes = await layoutBytes(keyring, of, 'image');
  const shape = pick(shapeNames, bytes[0]!);
  const matches = MATCHES_MIN + (bytes[1]! % (MATCHES_MAX - MATCHES_MIN + 1));
  const order = shuffled(IMAGE_TILES, bytes.subarray(2));
  const tiles: ShapeName[] = [];
  for (let index = 0; index < IMAGE_TILES; index++) tiles.push(anotherShape(shape, bytes[2 + IMAGE_TILES + index]!));
  for (const position of order.slice(0, matches)) tiles[position] = shape;
  return { shape, tiles };
}

/** The shape of the piece, and two fractions of 0–1 that place the hole within the sizes of the picture. */
export async function puzzleLayout(
  keyring: Keyring,
  of: LayoutOf,
): Promise<{ x: number; y: number; shape: ShapeName }> {
  const bytes = await layoutBytes(keyring, of, 'puzzle');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { x: view.getUint16(0) / 0xffff, y: view.getUint16(2) / 0xffff, shape: pick(shapeNames, bytes[4]!) };
}

/** The digits that are said. */
export async function audioLayout(keyring: Keyring, of: LayoutOf): Promise<number[]> {
  const bytes = await layoutBytes(keyring, of, 'audio');
  return Array.from({ length: AUDIO_DIGITS }, (_, index) => bytes[index]! % 10);
}

/** Seeds how the task of a round looks. It says nothing about the answer. */
export function lookSeed(keyring: Keyring, of: LayoutOf): Promise<Bytes> {
  return layoutBytes(keyring, of, 'look');
}

/** 32 bytes of this jti, round and kind of task. */
async function layoutBytes(keyring: Keyring, of: LayoutOf, kind: string): Promise<Bytes> {
  const key = await keyring.tagKey('layout', keyDay(of.bornAt));
  const fields = encodeFields([textField(kind), textField(of.jti), numberField(of.round)]);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, fields));
}

function pick<Value>(list: readonly Value[], byte: number): Value {
  return list[byte % list.length]!;
}

/** Fisher–Yates over 0…n−1. The bias of the modulo is below 2 %, too little to guess by. */
function shuffled(length: number, bytes: Uint8Array): number[] {
  const order = Array.from({ length }, (_, index) => index);
  for (let index = length - 1; index > 0; index--) {
    const other = bytes[index]! % (index + 1);
    [order[index], order[other]] = [order[other]!, order[index]!];
  }
  return order;
}

/** Another shape than `shape`. `byte`: 0–255, random. */
export function anotherShape(shape: ShapeName, byte: number): ShapeName {
  return pick(
    shapeNames.filter((name) => name !== shape),
    byte,
  );
}
