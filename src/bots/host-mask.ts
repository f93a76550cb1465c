/**
 * Names that a bot's addresses resolve to. In a mask, a leading `@.` is one label or more, and `*` is one character or
 * more within a label: `@.search.msn.com`, `google-proxy-*.google.com`.
 */
import { matchesPieces } from '../bytes/glob.ts';

/** A mask ends with two labels at least that are spelled out, so that none stands for a whole top-level domain. */
export const hostMaskPattern = /^(@\.)?([a-z0-9*-]{1,63}\.)*[a-z0-9-]{1,63}\.[a-z]{2,24}$/;
const HOST_MAX_CHARS = 253;

/** Whether a host name (lower or upper case, with or without the final dot) is one that the mask describes. */
export function fitsHostMask(host: string, mask: string): boolean {
  const name = (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
  if (name.length > HOST_MAX_CHARS) return false;
  const labels = name.split('.');
  const wanted = mask.split('.');
  const isBelow = wanted[0] === '@';
  if (isBelow) wanted.shift();
  if (isBelow ? labels.length <= wanted.length : labels.length !== wanted.length) return false;
  const tail = labels.slice(labels.length - wanted.length);
  return (
    labels.every((label) => label !== '') && wanted.every((part, i) => matchesPieces(tail[i] ?? '', part.split('*'), 1))
  );
}
