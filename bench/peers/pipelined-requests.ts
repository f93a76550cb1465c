/**
 * Asks a server about many addresses over keep-alive connections, several requests in each packet: a server's own work
 * for a request is then less buried under that of the network.
 */
import { connect } from 'node:net';
import { requestText } from '../measure/load.ts';

const CONNECTIONS = 4;
const REQUESTS_PER_PACKET = 64;
const HEAD_END = '\r\n\r\n';

/** @returns the answers, which are bodies of one character. */
export async function answersOf(port: number, addresses: readonly string[]): Promise<Uint8Array> {
  const answers = new Uint8Array(addresses.length);
  let next = 0;
  const connection = () =>
    new Promise<void>((resolve, reject) => {
      let waiting: number[] = [];
      let text = '';
      const send = (): void => {
        waiting = [];
        while (next < addresses.length && waiting.length < REQUESTS_PER_PACKET) waiting.push(next++);
        if (waiting.length === 0) socket.destroy();
        else socket.write(waiting.map((at) => request(addresses[at]!)).join(''));
      };
      const socket = connect(port, '127.0.0.1', send);
      socket.setNoDelay(true);
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        let from = 0;
        for (let end = text.indexOf(HEAD_END, from); end !== -1; end = text.indexOf(HEAD_END, from)) {
          const body = end + HEAD_END.length;
          if (text.length === body) break;
          if (!text.startsWith('HTTP/1.1 200', from)) {
            socket.destroy(new Error(`Unexpected response: ${text.slice(from, end)}`));
            return;
          }
          answers[waiting.shift()!] = Number(text[body]);
          from = body + 1;
        }
        text = text.slice(from);
        if (waiting.length === 0) send();
      });
      socket.on('error', reject);
      socket.on('close', () => (waiting.length === 0 ? resolve() : reject(new Error('The server closed early'))));
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return answers;
}

function request(address: string): string {
  return requestText('GET', '/', { host: 'bench', 'x-ip': address });
}
