/** The screens on which the phone's page must look right and be accessible, in CSS pixels. */

/** Those that show all parts of the page beside each other. */
export const largeScreens = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
] as const;

/**
 * Those that show one part at a time. Also a screen of 1440 px at 200 %, and the narrowest width, which is 1280 px at 400 %
 * (WCAG 2.2, 1.4.4 and 1.4.10). The widest and the narrowest are checked for accessibility.
 */
export const smallScreens = [
  { width: 390, height: 844 },
  { width: 720, height: 450 },
  { width: 320, height: 640 },
] as const;
