/** What `npm run bench -- bots` asks of its Worker. */
export interface BotWork {
  /** The file of the table, base64url; `null` before one is loaded. */
  file: string | null;
  userAgents: readonly string[];
  /** How often each is read. 0: what it takes is not the reading's. */
  times: number;
}
