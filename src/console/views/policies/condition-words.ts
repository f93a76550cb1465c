/** Fields and operators of a condition in words, for rows. */
import type { PolicyField, PolicyOperator } from '../../../contract/vocabulary.ts';

export const fieldWords: Readonly<Record<PolicyField, string>> = {
  host: 'host',
  path: 'path',
  method: 'method',
  query: 'query parameter',
  header: 'header',
  cookie: 'cookie',
  ip: 'address',
  asn: 'AS number',
  country: 'country',
  ja4: 'JA4 fingerprint',
  userAgent: 'user agent',
  deviceType: 'type of device',
  bot: 'bot',
  agent: 'agent',
  ipCategory: 'category of the address',
  sessionStatus: 'session',
  riskScore: 'risk score',
  pathType: 'type of path',
};

/** Each operator, and its opposite. */
export const operatorWords: Readonly<Record<PolicyOperator, readonly [string, string]>> = {
  equals: ['is', 'is not'],
  in: ['is one of', 'is none of'],
  startsWith: ['starts with', 'does not start with'],
  endsWith: ['ends with', 'does not end with'],
  contains: ['contains', 'does not contain'],
  matches: ['fits the pattern', 'does not fit the pattern'],
  exists: ['is there', 'is not there'],
  greaterThan: ['is above', 'is not above'],
  ipIn: ['is in the networks', 'is outside of the networks'],
};

/** A value of each field, in a row that has none. */
export const exampleValues: Readonly<Partial<Record<PolicyField, string>>> = {
  host: 'shop.example',
  path: '/login',
  ip: '192.0.2.1',
  asn: '64496',
  userAgent: 'curl',
  bot: 'googlebot',
  agent: 'suspected',
  riskScore: '0.5',
};
