"""What is different between two variants, since which pass, and what is only noise?"""
