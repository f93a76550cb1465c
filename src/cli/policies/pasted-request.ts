/** A request to test policies on: its reference in the log, the address of a page, or a file with a pasted request. */
import { type GivenRequest, readPasted } from '../../policies/pasted/pasted-request.ts';
import { CommandError } from '../command-line.ts';
import { readText } from './condition.ts';

/** `word`: a reference, an address, or a file (`-`: standard input). @throws CommandError */
export function readRequest(word: string): GivenRequest {
  const asWritten = readPasted(word);
  const read = asWritten.ok ? asWritten : readPasted(readText(word));
  if (read.ok) return read.value;
  throw new CommandError(read.error);
}
