/**
 * What `npm ci` ends with. The package that brings Node also brings its C++ headers, a third of its size. Nothing here is
 * compiled against them.
 */
import { globSync, rmSync } from 'node:fs';

for (const headers of globSync('node_modules/node/node_modules/node-*/include')) rmSync(headers, { recursive: true });
