"""The documentation as a site: pages, the reference made from the code, links checked, output shown and renewed."""
