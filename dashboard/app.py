"""The router: names the pages and runs the one asked for. Fetches nothing."""

import streamlit as st

# Drawn here: Streamlit would fetch a named icon from a host on the internet, and a NOC's screen talks to its own alone.
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#56c98a" stroke-width="2.5">'
    '<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3.5 2.5"/></svg>'
)

st.set_page_config(page_title="Tepat", page_icon=ICON, layout="wide")
NOW = st.Page("views/now.py", title="Now", icon=":material/monitor_heart:", default=True)
st.navigation([NOW], position="hidden").run()
