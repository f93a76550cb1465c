/** The generator's own theme with the fonts of the reader's system. */
import DefaultTheme from 'vitepress/theme-without-fonts';
// oxlint-disable-next-line import/no-unassigned-import -- the generator bundles style sheets from imports.
import './style.css';

export default DefaultTheme;
