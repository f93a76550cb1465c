/**
 * The value of a `Signature-Agent` as an address: where its keys are published, and how the agent is called. Senders
 * write an origin, whose keys are at a well-known path, or the address of a key set itself. Equal addresses are spelled
 * alike (RFC 3986, 6.2.2 and 6.2.3), so that one key set is not an agent per spelling.
 */
import { spelledEscapes } from '../../bytes/url-path.ts';

export interface AgentAddress {
  /** What is fetched, and what keys are looked up by, together with their thumbprint. */
  directory: string;
  /** How the agent is called: the address without its query. */
  agent: string;
}

export const DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
const ADDRESS_MAX_CHARS = 512;

/** `null` for anything but an absolute https URL without credentials or fragment. */
export function agentAddress(value: string): AgentAddress | null {
  // The URL parser drops spaces and control characters, so that another text would be fetched than was signed.
  if (value.length > ADDRESS_MAX_CHARS || !/^https:\/\/[!-~]+$/i.test(value)) return null;
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '' || value.includes('#')) return null;
  if (url.pathname === '/') url.search = '';
  const agent = url.origin + (url.pathname === '/' ? DIRECTORY_PATH : spelledEscapes(url.pathname));
  return { directory: agent + url.search, agent };
}
