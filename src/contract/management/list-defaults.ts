/** The settings of a list that are not sent. The console shows them in its form before anything is sent. */
export const listDefaults = {
  url: null,
  format: 'text',
  column: null,
  selector: null,
  authorization: null,
  verdict: 'block',
  mode: 'monitor',
  intervalMinutes: 60,
  expirySeconds: null,
  maxChangePercent: 50,
  includeReserved: false,
} as const;
