/** The script of the gate's pages that have no other: it offers to copy the reference. */
import { offerCopy } from './copy-reference.ts';

offerCopy();
