import reactHooks from "eslint-plugin-react-hooks";

export default [
  {
    files: ["src/**/*.ts", "src/**/*.tsx"],
    plugins: { "react-hooks": reactHooks },
    rules: {
      "no-console": "error",
      "prefer-const": "error",
      "react-hooks/exhaustive-deps": "warn",
    },
  },
];
