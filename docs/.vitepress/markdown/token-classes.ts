/**
 * Colours of code as classes. The highlighter writes a style into every word, which the site's content security policy
 * forbids. Its theme of CSS variables has a dozen values, and `theme/style.css` has a class for each.
 */
import type { ShikiTransformer } from 'shiki';

export const tokenClasses: ShikiTransformer = {
  name: 'token-classes',
  pre(node) {
    delete node.properties['style'];
  },
  span(node) {
    const style = node.properties['style'];
    delete node.properties['style'];
    const token = /var\(--shiki-(?:token-)?([a-z-]+)\)/.exec(typeof style === 'string' ? style : '')?.[1];
    if (token !== undefined && token !== 'foreground') this.addClassToHast(node, `token-${token}`);
  },
};
