// Numbers as an operator types them, read strictly, because an empty field is not 0; money and times as the page shows them.

/** @type {{read: (text: string) => number | null, expects: string}} */
export const WHOLE = {
  read: (text) => (/^-?[0-9]{1,15}$/.test(text) ? Number(text) : null),
  expects: 'a whole number',
};

/** Up to 16 digits, exact below 2^53; the server refuses those above its highest. */
export const SKU_ID = {
  read: (text) => (/^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : null),
  expects: 'a number above 0',
};

/** The only way to enter and to show an amount; two decimals, so that nobody takes units for cents. */
export const MONEY = {
  read: (text) => (/^[0-9]{1,12}[.,][0-9]{2}$/.test(text) ? Number(text.replace(/[.,]/, '')) : null),
  expects: 'an amount with two decimals, such as 499.00',
};

/** As MONEY, also below 0. */
export const CHANGE_OF_MONEY = {
  read: (text) => (/^-?[0-9]{1,12}[.,][0-9]{2}$/.test(text) ? Number(text.replace(/[.,]/, '')) : null),
  expects: 'an amount with two decimals, such as 499.00 or -499.00',
};

/** The text that MONEY reads as these cents. */
export function amount(cents) {
  return (cents / 100).toFixed(2);
}

/** A time of an answer, which is UTC, to the second. */
export function utc(time) {
  return time.slice(0, 19).replace('T', ' ');
}
