/** The catalogue of bots as this release has it, and its version. */
import catalogueFile from '../../bots/catalogue.json' with { type: 'json' };
import type { Catalogue } from '../../bots/catalogue.ts';
import { sha256Hex } from '../../bytes/hex.ts';

/** A test checks the file against the schema. */
export const botCatalogue = catalogueFile as Catalogue;

let version: string | null = null;

export async function catalogueVersion(): Promise<string> {
  version ??= await sha256Hex(JSON.stringify(botCatalogue.bots));
  return version;
}
